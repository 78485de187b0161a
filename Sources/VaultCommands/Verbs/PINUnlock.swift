import AuthenticatorKit
import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl pin unlock [PINITEM]`: the end of a block, by the unlock key, or by a code of a server.
enum PINUnlock: VaultVerb {
  static let words = ["pin", "unlock"]
  static let summary = "End a block, with the unlock key of the PIN or with a code of a server."
  static let arguments = [PINOptions.item]
  static let credential = Setting(
    "credential", .text, "NAME",
    "With --transport: the credential whose server ends the block; if not given, the only one behind the PIN."
  )
  static let start = Flag("start", "With --transport: only ask the server to send a code, and end.")
  static let ownOptions: [any OptionKey] = [
    PINOptions.keepBiokeys, TransportOptions.program, credential, start,
  ]
  static let channels = [SecretChannel.unlockKey, .code, .pin, .newPIN]
  static let needs = VaultNeed.unlocked
  static let audited = Audited.always
  static let notes = [
    "'pin set --unlock-key-out' makes the unlock key; a PIN item without one stays blocked (9) until a server ends the block. "
      + "The old PIN no longer works, and the biokeys of the PIN are deleted unless --keep-biokeys is given.",
    "With --transport, a server ends the block of a credential or of its PIN: it sends a code, which is asked for then, or given "
      + "in another call. The server says whether the current PIN (--pin-fd) or a new one (--new-pin-fd) ends it. A "
      + "current PIN that is not blocked is judged before the code is sent; if it is blocked, the code permits one attempt, and a wrong "
      + "PIN blocks again (3). Five wrong codes refuse the unlock for good (4); then the server must begin another one.",
    "With --json: name, attemptsLeft, and biokey (whether there is one). With --transport it is what 'otp activate status' prints.",
    ActivationWords.transportNote,
  ]
  static let examples = [
    "vaultctl pin unlock --unlock-key-file unlock-key --new-pin-fd 3 3<new-pin",
    "vaultctl pin unlock --unlock-key-fd 4 --new-pin-fd 3 3<new-pin 4<unlock-key",
  ]

  static func run(_ command: Command) throws -> Outcome {
    if let name = command[credential] { _ = try command.vault.opened().items(.name(name)) }
    if command[PINOptions.item] != nil { _ = try command.pinItem() }
    if let transport = try command.transport() {
      return try CredentialUnlocking.run(command, over: transport)
    }
    guard !command.has(credential), !command[start] else {
      throw CommandError.usage("--credential and --start need --transport", hint: "give --transport PROGRAM")
    }
    let item = try command.pinItem()
    let core = try command.vault.opened()
    if core.hasPasscode { try command.vault.unlock(core) }
    let text = try command.vault.secret(.code, of: .unlockKey, for: core) { secrets throws(CommandError) in
      try secrets.secret(.unlockKey)
    }
    let key = try PINUnlockKey(text: text.box.bytes)
    let context = try command.vault.pinContext()
    try command.vault.unlocking {
      try $0.unlockPIN(item.id, with: key, keepingBiokeys: command[PINOptions.keepBiokeys], context: context)
    }
    let status = try command.pinStatus(of: item.id)
    return Outcome(
      json: .object {
        Field("name", status.name)
        Field("attemptsLeft", status.attemptsLeft)
        Field("biokey", status.hasBiokey)
      })
  }
}

/// `vaultctl pin unlock --transport PROGRAM`.
enum CredentialUnlocking {
  static func run(_ command: Command, over transport: any Transport) throws -> Outcome {
    guard SecretChannel.unlockKey.option(in: command.invocation) == nil else {
      throw CommandError.usage(
        "--transport and the unlock key contradict each other", hint: "give one of the two")
    }
    guard !command[PINOptions.keepBiokeys] else {
      throw CommandError.usage("--keep-biokeys is for the unlock key: a server's new PIN ends them")
    }
    let item = try command.blockedCredential()
    let name = item.name ?? item.id.hexadecimal
    let context = try command.vault.pinContext()
    let isStarted = try command.vault.opened().credentialStatus(of: item.id).state == .unlockStarted
    if !isStarted || command[PINUnlock.start] {
      try command.vault.unlocking { try $0.startUnlock(of: item.id, over: transport, context: context) }
    }
    guard !command[PINUnlock.start] else { return try command.activationOutcome(of: name) }
    let code = try command.peerCode("unlock code", to: "end the block of '\(name)'")
    try command.vault.unlocking {
      try $0.finishUnlock(of: item.id, code: code, over: transport, context: context)
    }
    return try command.activationOutcome(of: name)
  }
}

extension Command {
  /// The credential that `--credential` names, or the only one of a server behind the PIN item.
  fileprivate func blockedCredential() throws -> Item {
    let core = try vault.opened()
    if let name = self[PINUnlock.credential] {
      guard self[PINOptions.item] == nil else {
        throw CommandError.usage(
          "PINITEM and --credential contradict each other", hint: "the credential names its PIN")
      }
      return try core.items(.name(name))[0]
    }
    let status = try pinStatus(of: pinItem().id)
    let found = try status.credentials.map { try core.items(.id($0))[0] }.filter(\.hasServer)
    guard let item = found.first else {
      throw CommandError(
        .refused, "no credential behind the PIN was activated by a server",
        hint: "unlock the PIN with its unlock key")
    }
    guard found.count == 1 else {
      throw CommandError.usage(
        "several credentials behind the PIN were activated by servers",
        hint: "name one with --credential NAME")
    }
    return item
  }
}
