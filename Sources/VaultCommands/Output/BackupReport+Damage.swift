import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

extension BackupReport {
  /// Says how much of what was copied is damaged, or was left out because it is; `nil` if nothing is. The file was made all the same.
  func damage(in what: String, hint: String) -> CommandError? {
    let missing = leftOut.count { $0.reason == .damaged }
    guard missing + damaged.count > 0 || isStateRenewed else { return nil }
    let state = isStateRenewed ? ", and the vault's own state, which is a new one" : ""
    return CommandError(
      .damaged,
      "\(what) was made, and something is damaged: items left out \(missing), items without a usable secret \(damaged.count)\(state)",
      hint: hint)
  }
}

extension Item {
  /// Its name, or its identifier.
  var shown: String { printable(name ?? id.hexadecimal) }

  /// Identifier and name, for JSON.
  var identification: JSON {
    .object {
      Field("id", id.hexadecimal)
      Field("name", name)
    }
  }
}
