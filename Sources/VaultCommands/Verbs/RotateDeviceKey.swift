import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl vault rotate device-key`: a new device key; with the recovery code also where the old one is lost.
enum RotateDeviceKey: VaultVerb {
  static let words = ["vault", "rotate", "device-key"]
  static let summary =
    "Replace the device key; no item is rewritten. The old key no longer opens this vault file."
  static let protector = ItemOptions.protector(
    "What keeps the new device key.", defaultValue: "what keeps the present one")
  static let ownOptions: [any OptionKey] = [protector]
  static let channels = [SecretChannel.recovery]
  static let runsIn = RunPlace.client
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.refused]
  static let notes = [
    "The other keys of the vault stay. A person who has the old key and an old copy of the vault file can open both, and with the "
      + "keys in them read later items, as far as those need no passcode. 'vaultctl vault rotate epoch' replaces these keys too.",
    "The old key is deleted after the new one has opened the vault; it stays when PATH.before-restore or a file of an "
      + "interrupted restore needs it. When the vault cannot be written, no key is made.",
    "Where the device key is lost the recovery code makes a new one. Items of this device only were lost "
      + "with the old key; they are listed. The code is not used where the device key is there.",
    "With --json: recovered, protector, deviceKey where a file keeps it, and lost with id and name after a recovery.",
  ]
  static let examples = [
    "vaultctl vault rotate device-key",
    "vaultctl vault rotate device-key --json",
  ]
  static let allowedInBatch = false

  static func run(_ command: Command) throws -> Outcome {
    let core: VaultCore
    do { core = try command.vault.opened() } catch let error as VaultError where losses.contains(error.code) {
      return try recover(command, from: error)
    }
    if let option = SecretChannel.recovery.option(in: command.invocation) {
      command.messages.note("\(option.shown) was not read: the device key is there")
    }
    let before = try VaultCore.outline(at: command.places.vault)
    // What makes a key completes, and says which key it is.
    try command.world.interruption.hold()
    let old = try core.rotateDeviceKey(
      to: command.places.newProtector(command[protector], else: before.protector))
    if let file = old.keeper {
      command.messages.note(
        old.isKeeperReadable
          ? "the old device key is kept: \(file) needs it"
          : "the old device key is kept: \(file) cannot be read and may need it; if you do not need that file, move it away, "
            + "then run 'vaultctl vault doctor --remove-old-keys'")
    }
    if command.places.deviceKey != nil, try VaultCore.outline(at: command.places.vault).protector != .file {
      command.messages.note(
        "the key is in no file any more: leave --device-key and $VAULTCTL_DEVICE_KEY out from now on")
    }
    return try outcome(command, lost: nil)
  }
}

/// A key that is locked away or cannot be read is not lost.
private let losses: [VaultError.Code] = [.deviceKeyAbsent, .deviceKeyWrong, .deviceKeyDamaged]

private func recover(_ command: Command, from loss: VaultError) throws -> Outcome {
  let path = try command.places.vault
  let outline = try VaultCore.outline(at: path)
  try refuseFalseLoss(command, outline: outline)
  guard outline.hasRecoveryCode else {
    throw lost(
      loss,
      hint: "this vault has no recovery code: put a copy of the key back, name it with --device-key, "
        + "or restore a backup with 'vaultctl restore' after moving the vault away")
  }
  guard let code = try command.secrets.given(.recovery) else {
    throw lost(
      loss,
      hint: "put a copy of the key back or name it with --device-key; "
        + "or give the recovery code with --recovery-fd N or --recovery-file PATH")
  }
  let typed = try RecoveryCode(text: code)
  try command.world.interruption.hold()
  let recovered = try VaultCore.recover(
    at: path, with: typed,
    protector: command.places.newProtector(command[RotateDeviceKey.protector], else: outline.protector),
    environment: command.vaultWorld)
  return try outcome(command, lost: recovered.lost)
}

/// A slip in `--device-key` must not cost the items of this device.
private func refuseFalseLoss(_ command: Command, outline: VaultOutline) throws {
  guard command.places.deviceKey != nil else { return }
  do throws(VaultError) {
    _ = try command.places.protector(outline.protector).loadKey(outline.deviceKey, of: outline.vault)
  } catch {
    guard error.code == .deviceKeyLocked else { return }
    throw error
  }
  throw CommandError(
    .deviceKey, "the device key is not lost: it is in its standard place",
    hint: "leave --device-key and $VAULTCTL_DEVICE_KEY out", code: "deviceKeyWrong")
}

private func lost(_ error: VaultError, hint: String) -> CommandError {
  CommandError(.deviceKey, error.message, hint: hint, code: error.code.rawValue)
}

private func outcome(_ command: Command, lost: DestroyedItems?) throws -> Outcome {
  let outline = try VaultCore.outline(at: command.places.vault)
  var fields: [(String, JSON)] = [
    ("recovered", .boolean(lost != nil)), ("protector", .string(outline.protector.word)),
  ]
  var lines = ["protector   " + outline.protector.word]
  if let key = command.places.keyPath(of: outline) {
    fields.append(("deviceKey", .string(key)))
    lines.append("device key  " + printable(key))
  }
  command.messages.note("the device key is new: the old one no longer opens the vault file as it is now")
  command.messages.note(
    "the old key with an old copy of the vault file still yields the keys of later items: 'vaultctl vault rotate epoch' replaces them"
  )
  guard let items = lost?.items else { return Outcome(json: .object(fields), lines: lines) }
  let json = items.map { item in
    JSON.object {
      Field("id", item.id.hexadecimal)
      Field("name", item.name)
    }
  }
  return Outcome(
    json: .object(fields + [("lost", .array(json))]),
    lines: lines + items.map { "lost        \(printable($0.name ?? $0.id.hexadecimal)) (this device only)" })
}
