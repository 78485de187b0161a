import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl history NAME`.
enum ItemHistory: VaultVerb {
  static let words = ["history"]
  static let summary = "List the former versions of an entry, without their contents."
  static let arguments = [ItemOptions.name]
  static let target = Target.full
  static let takesPieceOfName = true
  static let notes = [
    "A version is what the entry kept until its password, notes, fields or addresses were changed: the last five are kept, the newest comes "
      + "first. 'get NAME --version N' prints one, 'undo NAME N' makes it the present one.",
    "'edit --forget' ends them, and so do a change of --audit or --expiry, 'vault purge' and 'vault rotate epoch'. "
      + "Attributes such as the account, and other kinds of items, have no versions.",
    "With --json: name, id, and versions with version and until (Unix seconds).",
  ]
  static let examples = [
    "vaultctl history mail",
    "vaultctl history mail --json",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let item = try command.target()
    let versions = try command.vault.opened().history(of: item.id)
    if versions.isEmpty { command.messages.note("there is no former version") }
    let rows = versions.map { [String($0.version), "until \(Instants.shown(seconds: $0.until.seconds))"] }
    return Outcome(
      json: .object {
        Field("name", item.name)
        Field("id", item.id.hexadecimal)
        Field(
          "versions",
          JSON.array(
            versions.map { version in
              .object {
                Field("version", version.version)
                Field("until", version.until.seconds)
              }
            }))
      }, lines: columns(rows))
  }
}
