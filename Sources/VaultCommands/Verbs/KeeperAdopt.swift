import CommandLineKit
import TextFormats
import VaultDoctor
import VaultKit
import VaultWords

/// `vaultctl keeper adopt`: moves a vault of the person into the keeper. The command gives it, and the same verb in the keeper takes it.
enum KeeperAdopt: VaultVerb {
  static let words = ["keeper", "adopt"]
  static let summary = "Move your vault into the keeper."
  static let path = Argument(
    "PATH", .path, "The vault; else $XDG_DATA_HOME/vaultctl/default.vault.", isRequired: false)
  static let arguments = [path]
  static let channels = [SecretChannel.passcode]
  static let needs = VaultNeed.noVault
  static let passcodeCase: String? = "where one is set"
  static let asks: String? = "for the passcode of the vault, and for your login password"
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [
    .alreadyExists, .refused, .damaged, .deviceKey, .noVault, .authenticationFailed, .blocked, .cancelled,
    .interactionNotAllowed, .malformed, .unsupported,
  ]
  static let notes = [
    "Everything is moved: items, tokens, counts, attempts and the audit. The keeper's vault has a new device key. Your file and your "
      + "device key are removed, so that only the keeper has the vault.",
    "The keeper asks for your login password: otherwise a program could give it a vault of its own before you do.",
    "It can be interrupted at any moment: exactly one side has a vault that opens. The next command that names the keeper ends the move.",
    "Copies and backups that you have are as strong as before: who has one, with its device key or its passphrase, opens it. Destroy "
      + "them. 'vaultctl vault rotate epoch' makes the keys of the copies useless for what is stored later.",
    "A device key in the Secret Service has to be moved into a file first: 'vaultctl vault rotate device-key --protector file'.",
    "With --json: path, the file that was moved.",
  ]
  static let examples = [
    "vaultctl keeper adopt",
    "vaultctl keeper adopt --json",
  ]
  static let allowedInBatch = false
  static let commitSignals = CommitSignals.ignored

  /// In the keeper.
  static func run(_ command: Command) throws -> Outcome {
    let move = try command.keeperMove()
    try move.keeper.refuseVault()
    try command.vault.proveLogin(to: "move a vault into the keeper")
    let note = try move.control.withoutOthers {
      try move.keeper.adopt(interruption: command.world.interruption)
    }
    return Outcome(
      json: .object { Field("path", note.path) }, lines: ["moved into the keeper  \(printable(note.path))"])
  }

  /// In the process of the command, before the keeper is asked.
  static func side(_ command: Command) throws -> PersonsSide {
    let places = command.places
    let path = try places.persons(command[path])
    guard try VaultCore.outline(at: path).protector == .file else {
      throw CommandError(
        .refused, "the device key of the vault is in no file, so it cannot be moved",
        hint: "first: vaultctl vault rotate device-key --protector file", code: "keyInNoFile")
    }
    try prove(path, command)
    return try PersonsSide(giving: path, keys: places.keys.files())
  }

  /// The vault is closed when this returns.
  private static func prove(_ path: String, _ command: Command) throws {
    let core = try VaultCore.open(
      at: path, protector: command.places.keys.files(), environment: command.vaultWorld)
    guard core.hasPasscode else { return }
    _ = try command.vault.checkedPasscode(of: core, to: "move the vault into the keeper")
  }
}
