import CommandLineKit
import Glibc
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl backup FILE`: a vault that a passphrase opens.
enum Backup: VaultVerb {
  static let words = ["backup"]
  static let summary = "Write a backup that a passphrase opens."
  static let file = Argument(
    "FILE", .pathOrStream, "The new file; an existing file is never overwritten. - is standard output.")
  static let arguments = [file]
  static let channels = [SecretChannel.passphrase]
  static let needs = VaultNeed.unlocked
  static let runsIn = RunPlace.client
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.alreadyExists, .refused]
  static let notes = [
    "Secrets that the passcode protects need it in the backup too. In a vault without a passcode, every program that can call "
      + "this command can make a copy in which it tries PINs without a limit.",
    "Items of this device only, tokens, consents, items that are damaged and do not open, and the audit are left out; "
      + "the items are listed. An item whose secret alone is damaged is in the backup, without a usable secret, and is listed. "
      + "Where something is damaged the backup is made, and the exit code is 10.",
    "A passphrase that can be guessed is accepted with a warning, as a passcode is by 'vaultctl passcode set'.",
    "The backup is opened once with the passphrase and verified before FILE has its name. A backup that a signal ends leaves no file; "
      + "a signal that comes after FILE has its name changes nothing.",
    "FILE can be on any file system: a stick, a network share, FUSE. Its mode is 0600 where modes exist; where others can read it, "
      + "a warning says so. No directory is made (13). To -, never a terminal (9), only the backup is written, and the rest of the result to standard error: "
      + "vaultctl backup - | ssh HOST 'cat > monday.vault'. Whoever reads the pipe decides whether the backup was kept.",
    "With --json: path, items (how many), leftOut with id, name and reason: thisDeviceOnly, shortLived, damaged or newerVersion; "
      + "damaged with id and name of each item whose secret does not open; behindDamagedPIN with those of each item whose PIN does not open or is missing; stateRenewed, whether the vault's own state was damaged; "
      + "and passphraseGuessable.",
  ]
  static let examples = [
    "vaultctl backup monday.vault --passphrase-file phrase",
    "vaultctl backup - --passphrase-file phrase > tuesday.vault",
  ]
  static let allowedInBatch = false

  static func run(_ command: Command) throws -> Outcome {
    let path = command.required(file)
    // Checked before a person thinks of a passphrase; the writing itself replaces nothing either.
    if path == FilePlace.standardStream {
      try command.refuseTerminal()
    } else {
      try FilePlace.refuseSideFile(path)
      guard try !FilePlace.exists(path) else { throw FilePlace.taken(path) }
    }
    let core = try command.vault.opened()
    // Without a vault that is open, no passphrase is asked for.
    try command.vault.unlock(core)
    let typed = try command.secrets.secret(.passphrase, isNew: true)
    let isGuessable = command.warnIfGuessable(typed, what: "passphrase")
    let passphrase = SharedSecret(typed)
    let report = try command.makingFile(path == FilePlace.standardStream ? nil : path) {
      try command.backUp(core, to: path, passphrase: passphrase)
    }
    if !report.isLogged {
      command.messages.note("the vault could not be written: its audit does not name this backup")
    }
    if report.isOpenToOthers {
      command.messages.warn(
        "others can read \(printable(path)), because its file system keeps no modes: the passphrase alone protects it"
      )
    }
    let newer = report.leftOut.count { $0.reason == .newerVersion }
    if newer > 0 {
      command.messages.note(
        "items that a newer version of this program made are left out of the backup: \(newer); make the backup with that version"
      )
    }
    let result = outcome(path, report: report, isGuessable: isGuessable)
    guard path == FilePlace.standardStream else { return result }
    for line in lines(path, report) { command.messages.note(line) }
    return Outcome(json: nil, failure: result.failure)
  }
}

extension Command {
  /// Standard output must take the bytes of a backup.
  fileprivate func refuseTerminal() throws(CommandError) {
    guard !isJSON else { throw .usage("--json needs a FILE: standard output carries the backup") }
    guard isatty(world.standardOutput) != 1 else {
      throw CommandError(
        .refused, "a backup is not written to a terminal", hint: "name a file, or write to a pipe")
    }
  }

  fileprivate func backUp(
    _ core: VaultCore, to path: String, passphrase: SharedSecret
  ) throws -> BackupReport {
    let progress = progress("writing the backup")
    defer { progress.finish() }
    world.interruption.watch()
    func update(_ step: VerifyProgress) throws(VaultError) {
      try world.interruption.check()
      progress.update(done: step.done, of: step.total)
    }
    if path == FilePlace.standardStream {
      return try writingBackup { write throws(VaultError) in
        try core.backUp(passphrase: Passcode(passphrase.copy()), progress: update, writing: write)
      }
    }
    do throws(VaultError) {
      return try core.backUp(
        to: path, passphrase: Passcode(passphrase.copy()), publishing: world.interruption.hold,
        progress: update)
    } catch {
      guard error.code == .vaultExists, try FilePlace.exists(path) else { throw error }
      throw FilePlace.taken(path)
    }
  }

  /// Lends what writes to standard output, and throws its error as it was.
  private func writingBackup(
    _ body: ((ArraySlice<UInt8>) throws(VaultError) -> Void) throws(VaultError) -> BackupReport
  ) throws -> BackupReport {
    let stream = OutputStream(
      descriptor: world.standardOutput, name: "standard output", hint: "the backup is not complete")
    var failure: CommandError?
    do throws(VaultError) {
      return try body { bytes throws(VaultError) in
        do throws(CommandError) {
          try stream.write(bytes: Array(bytes))
          try stream.flush()
        } catch {
          failure = error
          throw VaultError(.io, error.message)
        }
      }
    } catch { throw failure ?? error }
  }
}

private func lines(_ path: String, _ report: BackupReport) -> [String] {
  ["backup    " + printable(path), "items     \(report.items)"]
    + report.leftOut.map { "left out  \(printable($0.name ?? $0.id.hexadecimal)) (\($0.reason.words))" }
    + report.unusable.map { "damaged   " + $0 }
}

private func outcome(_ path: String, report: BackupReport, isGuessable: Bool) -> Outcome {
  let leftOut = report.leftOut.map { item in
    JSON.object {
      Field("id", item.id.hexadecimal)
      Field("name", item.name)
      Field("reason", item.reason.rawValue)
    }
  }
  return Outcome(
    json: .object {
      Field("path", path)
      Field("items", report.items)
      Field("leftOut", .array(leftOut))
      Field("damaged", .array(report.damaged.map(\.identification)))
      Field("behindDamagedPIN", .array(report.behindDamagedPIN.map(\.identification)))
      Field("stateRenewed", report.isStateRenewed)
      Field("passphraseGuessable", isGuessable)
    },
    lines: lines(path, report),
    failure: report.damage(
      in: "the backup",
      hint: "'vaultctl vault check' names what is wrong; an older backup may have what is missing"))
}
