import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultPrompts
import VaultWords

/// `vaultctl biometry list`.
enum BiometryList: VaultVerb {
  static let words = ["biometry", "list"]
  static let summary = "List the members of the set."
  static let examples = [
    "vaultctl biometry list --json",
    "vaultctl biometry list",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let members = try command.vault.opened().enrolledMembers().sorted { $0.name < $1.name }
    return Outcome(
      json: .object {
        Field("items", .array(members.map(\.json)))
      },
      pieces: command.list(
        [Table.Column("NAME"), Table.Column("SOURCE"), Table.Column("ENROLLED", isSecondary: true)],
        count: members.count, ifEmpty: "the set has no member: 'vaultctl biometry enroll NAME' enrolls one"
      ) {
        ListRow(
          cells: [
            members[$0].name, members[$0].sourceWord, Instants.text(seconds: members[$0].enrolled.seconds),
          ])
      })
  }
}
