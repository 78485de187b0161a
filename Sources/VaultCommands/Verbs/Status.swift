import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl status`: opens the vault and says what it is; needs no passcode.
enum Status: VaultVerb {
  static let words = ["status"]
  static let summary = "Show where the vault is, what guards it and how many items it has."
  static let notes = [
    "After wrong passcodes it shows until when none is accepted.",
    "With --json also, where they apply: passcodeFailures (wrong passcodes in a row), lockedOutUntil (Unix seconds, until which no "
      + "passcode is accepted), biometryLocked (true until a right passcode), rotation (underWay or paused) while the keys of two "
      + "epochs are in force, ownState (damaged) where the vault's own state does not open, and damaged, the number of items that do not open.",
  ]
  static let examples = [
    "vaultctl status --json",
    "vaultctl status",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let path = try command.places.vault
    let core = try command.vault.opened()
    let outline = try VaultCore.outline(at: path)
    let counts = try countKinds(core, command: command)
    var rows: [(key: String, json: JSON, text: String)] = [
      ("path", .string(path), path), ("id", .string(outline.vault.hexadecimal), outline.vault.hexadecimal),
      ("format", .integer(Int64(Version.format)), String(Version.format)),
      ("created", .integer(outline.created.seconds), Instants.text(seconds: outline.created.seconds)),
      ("protector", .string(outline.protector.word), outline.protector.word),
    ]
    if let key = command.places.keyPath(of: outline) { rows.append(("deviceKey", .string(key), key)) }
    rows += [
      flag("passcode", value: outline.hasPasscode), flag("recoveryCode", value: outline.hasRecoveryCode),
      flag("readOnly", value: core.isReadOnly), flag("locked", value: !core.isUnlocked),
      ("items", .integer(Int64(counts.total)), String(counts.total)),
    ]
    let status = try core.status()
    rows += lockOuts(status, now: core.environment.clock.now().seconds)
    let rotation = rotation(status)
    if let rotation { rows.append(("rotation", .string(rotation.json), rotation.text)) }
    if status.isStateDamaged {
      rows.append(("ownState", .string("damaged"), "damaged: see 'vaultctl vault check'"))
    }
    if counts.damaged > 0 {
      rows.append(
        (
          "damaged", .integer(Int64(counts.damaged)),
          "\(counts.damaged) of the items \(counts.damaged == 1 ? "does" : "do") not open: see 'vaultctl vault check'"
        ))
    }
    let kinds = counts.byKind.sorted { $0.key < $1.key }
    let byKind = JSON.object(kinds.map { ($0.key, .integer(Int64($0.value))) })
    let titles = rows.map { wording(ofKey: $0.key) }
    let width = titles.map(\.count).max() ?? 0
    var lines = zip(titles, rows).map { title, row in
      title + String(repeating: " ", count: width - title.count + 2) + printable(row.text)
    }
    lines += kinds.map { String(repeating: " ", count: width + 2) + "\($0.value) \($0.key)" }
    return Outcome(json: .object(rows.map { ($0.key, $0.json) } + [("kinds", byKind)]), lines: lines)
  }
}

private func flag(_ key: String, value: Bool) -> (key: String, json: JSON, text: String) {
  (key, .boolean(value), value ? "yes" : "no")
}

/// What wrong tries have shut, where they have.
private func lockOuts(_ status: VaultStatus, now: Int64) -> [(key: String, json: JSON, text: String)] {
  var rows: [(key: String, json: JSON, text: String)] = []
  if status.passcodeFailures > 0 {
    let count = status.passcodeFailures
    rows.append(("passcodeFailures", .integer(Int64(count)), "\(count) in a row"))
  }
  if let delay = status.passcodeDelay {
    let until = now + delay.components.seconds + (delay.components.attoseconds > 0 ? 1 : 0)
    let text = Instants.text(seconds: until) + ", in " + Durations.text(seconds: until - now)
    rows.append(("lockedOutUntil", .integer(until), text))
  }
  if status.isBiometryLocked {
    rows.append(("biometryLocked", .boolean(true), "yes, until a right passcode"))
  }
  return rows
}

private func rotation(_ status: VaultStatus) -> (json: String, text: String)? {
  guard status.isRotating else { return nil }
  return status.isRotationPaused
    ? ("paused", "paused: items do not open; 'vaultctl vault rotate epoch' names them")
    : ("underWay", "under way: 'vaultctl vault rotate epoch' completes it")
}

private func countKinds(_ core: VaultCore, command: Command) throws -> (
  total: Int, byKind: [String: Int], damaged: Int
) {
  let progress = command.progress("counting")
  defer { progress.finish() }
  let counts = try core.counts { progress.update(done: $0, of: 0) }
  let byKind = Dictionary(counts.byKind.map { ($0.word, $1) }, uniquingKeysWith: +)
  return (byKind.values.reduce(counts.unreadable, +), byKind, counts.unreadable)
}
