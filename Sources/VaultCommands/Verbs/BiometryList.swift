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
    let members = try command.vault.opened().enrolledMembers()
    return Outcome(
      json: .object {
        Field("items", .array(members.map(\.json)))
      },
      lines: columns(
        members.map { [$0.name, $0.sourceWord, Instants.text(seconds: $0.enrolled.seconds)] }))
  }
}
