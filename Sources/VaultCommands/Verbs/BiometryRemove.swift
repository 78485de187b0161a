import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultPrompts
import VaultWords

/// `vaultctl biometry remove MEMBER`: works while the vault is locked, unless it would destroy items.
enum BiometryRemove: VaultVerb {
  static let words = ["biometry", "remove"]
  static let summary = "Remove a member of the set, without confirmation."
  static let member = Argument("MEMBER", .name, "The name of a member.")
  static let arguments = [member]
  static let channels = [SecretChannel.passcode, .recovery]
  static let passcodeCase: String? = "where items would be lost: those of biometry-current-set"
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.notFound, .refused]
  static let notes = [
    "It works while the vault is locked, unless items of biometry-current-set would be lost. The set changes, as with "
      + "'biometry enroll', unless the member was the login password."
  ]
  static let examples = [
    "vaultctl biometry remove voice",
    "vaultctl biometry remove voice --json",
  ]

  static func needsPerson(_ invocation: Invocation) -> Bool { true }

  static func run(_ command: Command) throws -> Outcome {
    let name = command.required(member)
    let core = try command.vault.opened()
    let isLogin = try core.enrolledMembers().contains { $0.name == name && $0.source == .login }
    let lost = isLogin ? [] : try core.itemsBehindCurrentSet()
    if !lost.isEmpty { try command.vault.unlock(core) }
    try core.removeMember(named: name)
    command.note(lost, what: "can be opened by nobody any more: they were stored for the set as it was")
    return Outcome(
      json: .object {
        Field("name", name)
        Field("beyondReach", lost.count)
      })
  }
}
