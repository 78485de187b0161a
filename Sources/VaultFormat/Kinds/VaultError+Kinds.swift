extension VaultError {
  /// Why a call is refused for an item of a kind that this program does not know.
  package static func unknownKind(_ kind: ItemKind) -> VaultError {
    VaultError(
      .unsupported, "this program does not know items of kind \(kind.rawValue), and cannot do this with them",
      hint: .useComponent)
  }
}

extension Hint {
  /// For items whose component is not in the program.
  package static let useComponent: Hint = """
    \("link the library of its component, such as AuthenticatorKit, or use", tool: "open it with") the version of \
    \("the program", tool: "vaultctl") that made it
    """
}
