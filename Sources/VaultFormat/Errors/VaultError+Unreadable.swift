extension VaultError {
  /// Whether the error means that a part of the file does not open: it is damaged, or a newer version made it.
  package var isUnreadable: Bool { code == .damaged || isNewerVersion }

  /// Whether this version does not know a seal, a rule or a layout: a newer version made the part, and opens it.
  package var isNewerVersion: Bool { [.newerFormat, .unsupported].contains(code) }

  /// The same error with the unreadable part named; an error that is not about such a part stays unchanged.
  package func saying(_ what: String) -> VaultError {
    switch code {
    case .damaged: VaultError(.damaged, what)
    case _ where isNewerVersion: VaultError(code, "\(what): \(message)", hint: advice)
    default: self
    }
  }
}
