import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

extension BackupReport {
  /// Says how much of what was copied is damaged, or was left out because it is; `nil` if nothing is. The file was made all the same.
  func damage(in what: String, hint: String) -> CommandError? {
    let missing = leftOut.count { $0.reason == .damaged }
    guard missing + damaged.count + behindDamagedPIN.count > 0 || isStateRenewed else { return nil }
    let behind =
      behindDamagedPIN.isEmpty ? "" : ", items behind a PIN that does not open \(behindDamagedPIN.count)"
    let state = isStateRenewed ? ", and the vault's own state, which is a new one" : ""
    return CommandError(
      .damaged,
      "\(what) was made, and something is damaged: items left out \(missing), items without a usable secret \(damaged.count)\(behind)\(state)",
      hint: hint)
  }

  /// The items in the new file that cannot be used, each with the reason.
  var unusable: [String] {
    damaged.map { "\($0.shown) (its secret does not open)" }
      + behindDamagedPIN.map { "\($0.shown) (the PIN that guards it does not open)" }
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
