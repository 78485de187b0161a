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
    let biokeys = try command.vault.opened().biokeys().sorted { ($0.name ?? "") < ($1.name ?? "") }
    return Outcome(
      json: .object { Field("items", .array(biokeys.map(\.json))) },
      pieces: command.list(
        [
          Table.Column("NAME"), Table.Column("PIN"), Table.Column("DEVICE"),
          Table.Column("REGISTERED", isSecondary: true),
        ], count: biokeys.count,
        ifEmpty: "there is no biokey: 'vaultctl biometry biokey register' makes one"
      ) {
        let key = biokeys[$0]
        return ListRow(
          cells: [
            key.name ?? "", key.pinName ?? "", key.device ?? "",
            Instants.text(seconds: key.registered.seconds),
          ], marks: [key.shownState], warns: key.isInvalidated || key.isLocked)
      })
  }
}
