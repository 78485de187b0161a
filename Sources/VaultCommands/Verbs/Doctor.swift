import CommandLineKit
import Glibc
import TextFormats
import VaultDoctor
import VaultKit
import VaultPrompts
import VaultWords

/// `vaultctl vault doctor`: what is well, what is weak and what is broken, each with what to do.
enum Doctor: VaultVerb {
  static let words = ["vault", "doctor"]
  static let summary = "Judge how safe the vault and this machine are, and say what to do."
  static let removeOldKeys = Flag(
    "remove-old-keys", "Remove device keys that this vault has replaced, without asking.")
  static let ownOptions: [any OptionKey] = [removeOldKeys]
  static let channels = [SecretChannel.passcode]
  static let asks: String? = "whether to delete an old device key, on a terminal"
  static let runsIn = RunPlace.client
  static let notes = [
    "With the passcode, which it does not ask for, it also says whether the passcode can be guessed.",
    "It looks at locked memory, core dumps, swap, the clock, libraries, PAM and its helper, the passcode, the recovery "
      + "code, "
      + "protector and device key, permissions, the file system, counters, weak credentials, expired items, and everything that 'vault check' checks "
      + "with the keys that are open.",
    "Warnings do not change the exit code; a vault that cannot be opened does. With --json: warnings and "
      + "problems (how many), and items with check, state (ok, warning or problem), message and hint.",
    "A device key that this vault has replaced is still there when its removal failed. It is listed with its file, and on a "
      + "terminal doctor asks whether to delete it; --remove-old-keys deletes it without asking. Both first open the vault with "
      + "the present key. Copies of the vault file from the time of the deleted key no longer open. A key that "
      + "PATH.before-restore or PATH.restoring-KEYID names stays. While such a file cannot be read, all replaced keys stay. When a "
      + "key that was to be removed stays for that reason or because its removal failed, the exit code is 13.",
    "A device key that a killed 'vault rotate device-key' or 'vault purge' has left, and that the vault never had, is treated in the same way.",
    "A device key that no file is known to name is listed and never deleted: a backup that was restored elsewhere has the "
      + "same vault id, and its key is in the same place. So are KEY.before-restore, which a restore leaves beside a named key "
      + "file, and folders of keys of other vault ids, as an 'init' that failed leaves one.",
  ]
  static let examples = [
    "vaultctl vault doctor",
    "vaultctl vault doctor --json",
  ]
  static let changesFiles = true
  static let changingOption: Flag? = removeOldKeys
  /// It says so in its list.
  static let usesClock = false

  static func run(_ command: Command) throws -> Outcome {
    var findings = try machineFindings(command)
    var failure: CommandError?
    do { findings += try vaultFindings(command, failure: &failure) } catch {
      let error = CommandError(describing: error)
      findings.append(Finding("vault", .problem, error.message, CommandError(describing: error).hint))
      failure = error
      // A vault that others can write is not even opened: who can reach it is then the more interesting.
      let vault = try? command.places.vault
      if let vault, unsafe access(vault, F_OK) == 0 { findings += PlaceFindings.all(vault: vault, key: nil) }
      findings += OtherKeys.findings(
        in: command.places.keys, besides: vault.flatMap { try? VaultCore.outline(at: $0).vault })
    }
    func count(_ state: Finding.State) -> JSON { .integer(Int64(findings.count { $0.state == state })) }
    try command.world.interruption.check()
    let json = JSON.object {
      Field("warnings", count(.warning))
      Field("problems", count(.problem))
      Field("items", .array(findings.map(\.json)))
    }
    return Outcome(json: json, pieces: findings.flatMap(\.pieces), failure: failure)
  }
}

// MARK: the parts of the report

private func machineFindings(_ command: Command) throws(CommandError) -> [Finding] {
  let host = try command.world.localHost()
  return MachineFindings.all(clock: command.world.vault.clock)
    + PromptFindings.all(prompt: host.automaticPrompt(), presence: host.pam, biometry: host.biometry)
}

/// - Parameter failure: Set when something that was asked for could not be done.
private func vaultFindings(_ command: Command, failure: inout CommandError?) throws -> [Finding] {
  let core = try command.vault.opened()
  let path = try command.places.vault
  let outline = try VaultCore.outline(at: path)
  var findings = VaultFindings.opening(core)
  findings.append(try passcode(command, core: core, outline: outline))
  findings += VaultFindings.protection(outline)
  if let key = command.places.keyPath(of: outline) {
    findings.append(VaultFindings.keyPlace(key, vault: path))
  }
  let oldKeys = oldKeyFindings(command, core: core, path: path)
  findings += oldKeys.findings
  failure = oldKeys.failure
  findings += OtherKeys.findings(in: command.places.keys, besides: outline.vault)
  findings += try VaultFindings.interruptedRestore(at: path, vault: outline.vault)
  findings += try VaultFindings.unfinished(beside: path)
  findings += PlaceFindings.all(vault: path, key: command.places.keyPath(of: outline))
  findings += [try PlaceFindings.witness(command.places.witnessPath(of: outline))].compactMap(\.self)
  findings += try VaultFindings.progress(of: core)
  let progress = command.progress("looking at items")
  defer { progress.finish() }
  findings += try VaultFindings.items(of: core) { progress.update(done: $0, of: 0) }
  let verifying = command.progress("verifying")
  defer { verifying.finish() }
  return try findings + [VaultFindings.contents(of: core) { verifying.update(done: $0, of: $1) }]
}

/// The passcode is not asked for: only one that an option gives is measured.
private func passcode(_ command: Command, core: VaultCore, outline: VaultOutline) throws -> Finding {
  guard outline.hasPasscode, let passcode = try command.secrets.given(.passcode) else {
    return VaultFindings.passcode(isSet: outline.hasPasscode)
  }
  try command.vault.unlock(core)
  return VaultFindings.passcode(SecretStrength(of: passcode))
}

/// Old keys are removed where the option says so, or where a person on the terminal agrees.
private func oldKeyFindings(
  _ command: Command, core: VaultCore, path: String
) -> (findings: [Finding], failure: CommandError?) {
  OldKeys(of: core, at: path, places: command.places.keys).findings(
    isRemovalAsked: command[Doctor.removeOldKeys],
    agrees: { replaced in
      guard !command.messages.isJSON, command.invocation.mayPrompt, command.isOnTerminal else { return false }
      for key in replaced { command.messages.note("replaced device key: \(key.place)") }
      return command.confirm(
        "delete \(replaced.count == 1 ? "this key" : "these \(replaced.count) keys"), which this vault has replaced"
      )
    }, removing: command.world.interruption.hold, note: command.messages.note)
}
