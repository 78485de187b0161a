import VaultLogging

extension AuditNote {
  /// Writes a line of the log of this process about a note whose transaction is committed. The detail of a note is left
  /// out: it can have a name, or the words of a peer.
  package func writeLine() {
    let tag = operation.tag
    let name = LoggedName(text: operation.name)
    guard result == .success else {
      return VaultLog.warning(tag, "\(name) of item \(LoggedItem(item)): result \(result.rawValue)")
    }
    if [.promptShown, .given].contains(operation) {
      VaultLog.debug(tag, "\(name) for item \(LoggedItem(item))")
    } else {
      VaultLog.info(tag, "\(name) of item \(LoggedItem(item))")
    }
  }
}

/// The name of an operation, or its number: both from this library.
private struct LoggedName: VaultLog.Value {
  let text: String
  var logText: String { text }
}

/// The identifier of an item, where there is one.
private struct LoggedItem: VaultLog.Value {
  let id: ItemID?
  init(_ id: ItemID?) { self.id = id }
  var logText: String { id?.hexadecimal ?? "-" }
}
