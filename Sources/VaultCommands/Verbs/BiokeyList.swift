import AuthenticatorKit
import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl biometry biokey list`.
enum BiokeyList: VaultVerb {
  static let words = ["biometry", "biokey", "list"]
  static let summary = "List the biokeys of all PINs."
  static let notes = [
    "With --json: id, name, pin (the name of its PIN item), device, registered (Unix seconds), members, attemptsLeft "
      + "(failures that lock it), invalidated (true after a change of the set)."
  ]
  static let examples = [
    "vaultctl biometry biokey list --json",
    "vaultctl biometry biokey list",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let biokeys = try command.vault.opened().biokeys()
    return Outcome(
      json: .object { Field("items", .array(biokeys.map(\.json))) },
      lines: columns(
        biokeys.map {
          [
            $0.name ?? "", $0.pinName ?? "", $0.device ?? "", Instants.text(seconds: $0.registered.seconds),
            $0.shownState,
          ]
        }))
  }
}
