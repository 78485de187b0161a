import VaultLogging

/// What a log line shows of values of a vault: words and numbers that say nothing of what an item is or is called.
extension VaultError.Code: VaultLog.Value {
  package var logText: String { rawValue }
}

extension Identifier: VaultLog.Value {
  /// Sixteen random bytes, as hexadecimal digits.
  package var logText: String { hexadecimal }
}

extension ItemKind: VaultLog.Value {
  package var logText: String { String(rawValue) }
}
