import AgentMessages
import CommandLineKit
import TextFormats
import VaultDoctor
import VaultKit
import VaultWords

/// `vaultctl keeper leave`: moves the vault out of the keeper. The command takes it, and the same verb in the keeper gives it.
enum KeeperLeave: VaultVerb {
  static let words = ["keeper", "leave"]
  static let summary = "Move the vault out of the keeper, into a file of yours."
  static let path = Argument(
    "PATH", .path, "The new file; else $XDG_DATA_HOME/vaultctl/default.vault.", isRequired: false)
  static let arguments = [path]
  static let channels = [SecretChannel.passcode, .recovery]
  static let needs = VaultNeed.noVault
  static let passcodeCase: String? = "where one is set; otherwise your login password"
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [
    .alreadyExists, .refused, .damaged, .deviceKey, .noVault, .authenticationFailed, .blocked, .cancelled,
    .interactionNotAllowed, .malformed, .unsupported,
  ]
  static let notes = [
    "Everything is moved, as by 'vaultctl keeper adopt'. The new file has a new device key, at the standard place or where --device-key "
      + "says. From then on each program of yours can read the file and the key.",
    "It can be interrupted at any moment: exactly one side has a vault that opens. The next command that names the keeper ends the move.",
    "The keeper sets its file and its device key aside, and opens them no more. An administrator destroys them: sudo rm -r /var/lib/vaultd/UID/left.",
    "With --json: path, the new file.",
  ]
  static let examples = [
    "vaultctl keeper leave ~/vault/default.vault",
    "vaultctl keeper leave ~/default.vault --json",
  ]
  static let allowedInBatch = false
  static let commitSignals = CommitSignals.ignored
  static func needsPerson(_ invocation: Invocation) -> Bool { true }

  /// In the keeper.
  static func run(_ command: Command) throws -> Outcome {
    let move = try command.keeperMove()
    command.vault.close()
    let note = try move.control.withoutOthers {
      try move.keeper.leave(interruption: command.world.interruption)
    }
    command.messages.note(
      "the keeper's own file is set aside with its device key; an administrator destroys them: sudo rm -r "
        + command.world.keeper.left)
    return Outcome(
      json: .object { Field("path", note.path) }, lines: ["moved to  \(printable(note.path))"])
  }

  /// In the process of the command, before the keeper is asked.
  static func side(_ command: Command) throws -> PersonsSide {
    return try PersonsSide(
      receivingAt: command.places.persons(command[path]), keys: command.places.keys.files())
  }
}

extension Command {
  /// What moves the vault, in the keeper.
  ///
  /// - Throws: Exit 13 outside of a keeper.
  func keeperMove() throws(CommandError) -> (keeper: KeeperMove, control: any AgentControl) {
    guard world.isKeeper, let control = world.agent, let link = (world.host as? RemoteHost)?.link else {
      throw CommandError(.io, "no keeper serves you", code: "noKeeper")
    }
    return (KeeperMove(in: world.keeper, with: link, environment: vaultWorld), control)
  }
}
