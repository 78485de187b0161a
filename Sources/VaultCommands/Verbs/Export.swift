import AuthenticatorKit
import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl export FORMAT [FILE]`: every secret in clear, audited before it is written.
enum Export: VaultVerb {
  static let words = ["export"]
  static let summary = "Export items with their secrets, for another program or vault."
  static let format = Argument("FORMAT", .choice(["jsonl"]), "jsonl, our own JSON lines.")
  static let file = Argument(
    "FILE", .path, "The new file, mode 0600; else standard output.", isRequired: false)
  static let arguments = [format, file]
  static let plain = Flag("plain", "Agree that every secret is written in clear. jsonl has no other form.")
  static let ownOptions: [any OptionKey] = [plain]
  static let channels = ItemOptions.accessChannels
  static let needs = VaultNeed.unlocked
  static let asksByFlags = true
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.alreadyExists, .expired, .refused, .unsupported]
  static let notes = [
    "For a file that a passphrase protects, use 'vaultctl backup'. Without --plain nothing is written (9).",
    "What is in the trash goes too, with when it ends, and so do the former versions of an entry, with when they ended, and the one-time code of an "
      + "entry, in the line after it.",
    "Left out, and listed: items of this device only, items whose expiry refuses them (expired), kinds that are neither password nor "
      + "one-time-password credential, credentials behind a PIN (behindPIN; behindDamagedPIN where that PIN does not open), activations that are not complete (activation), "
      + "the one-time code of an entry that stays (entryStays), "
      + "and items with an access rule when no person can be asked (promptNeeded), "
      + "the person declined (declined), or no enrolled member can open them (beyondReach). Items that are left "
      + "out are not an error, and the exit code is 0, but for expired ones (7), for items that are damaged and do not open (damaged), "
      + "items behind a damaged PIN, and where the vault's own state is damaged: then it is 10. A password that has expired is written, "
      + "with its expiry, unless it was stored with --expiry refuse. "
      + "Items of a newer version are left out too (newerVersion). Each item that is written is audited first, so "
      + "the audit has these entries also after an export that was ended and left no file.",
    "A person whom an access rule asks for is asked once for all items, for five minutes. A wrong answer ends the export.",
    "FILE is never overwritten, and has its name only when it is whole: an export that a signal ends leaves no file; "
      + "a signal that comes later changes nothing, and the exit code is that of the export. Standard output must not be a file that others can read (9).",
    "Former versions that are damaged and do not open (damagedFormer) are left out, and the rest of the entry is written; the exit code is then 10. Those of a newer version are newerFormer.",
    "With --json, which needs FILE: path, items (how many), trash (how many of them are in the trash), former (how many former versions), leftOut with id, name and reason.",
  ]
  static let examples = [
    "vaultctl export jsonl items.jsonl --plain",
    "(umask 077; vaultctl export jsonl --plain > items.jsonl)",
  ]
  static let allowedInBatch = false
  static let commitSignals = CommitSignals.ignored

  static func needsPerson(_ invocation: Invocation) -> Bool { true }

  static func run(_ command: Command) throws -> Outcome {
    guard command[plain] else {
      throw CommandError(
        .refused, "an export holds every secret in clear, and nothing was written",
        hint: "agree with --plain; for safekeeping use 'vaultctl backup', which a passphrase guards")
    }
    let path = command[file]
    guard !command.isJSON || path != nil else {
      throw CommandError.usage("--json needs FILE: standard output carries the items")
    }
    let destination = try ExportDestination(path, command: command)
    let report = try command.makingFile(path) {
      let report = try command.exportItems(to: destination.stream)
      try destination.finish()
      return report
    }
    return command.outcome(path, report: report)
  }
}

/// Where the lines go: a file that did not exist, and that has no name before the last line is in it; or standard output.
private struct ExportDestination {
  let stream: OutputStream
  private let file: (any UnfinishedFile)?

  init(_ path: String?, command: Command) throws(CommandError) {
    guard let path else {
      file = nil
      stream = OutputStream(
        descriptor: command.world.standardOutput, name: "standard output", hint: Self.stays)
      try command.world.refuseExposedOutput(
        hint: "name a FILE, or run 'umask 077' before the shell makes one")
      return
    }
    let file = try command.world.host.makeFile(path, interruption: command.world.interruption)
    self.file = file
    stream = OutputStream(
      descriptor: file.descriptor, name: "the export \(printable(path))",
      hint: "free some space there, or name a file on another disk; no file is left, and \(Self.stays)")
  }

  private static let stays = "the audit says 'exported' of the items that were read for it"

  /// A file and its name are on the disk when this returns. Standard output belongs to the caller: it is only written.
  func finish() throws(CommandError) {
    try stream.flush()
    try file?.finish()
  }
}

/// What is known of the items before the first one is written. They are not kept: a vault can have more of them than fit into memory.
private struct FoundItems {
  var count = 0
  /// Whether an item that goes needs the unlocked vault.
  var needsUnlock = false
  /// Whether something that is looked at needs it: whether a PIN opens, also where it stays.
  var needsKeys = false
  /// The first item that goes and that the passcode answers for.
  var asking: Item?
  /// The one-time codes of entries, which go with these.
  var codes: Set<ItemID> = []

  mutating func note(_ item: Item) {
    count += 1
    if let code = item.owned { codes.insert(code) }
    let isGuarded = item.access.accessibility != .afterFirstUnlock
    if isGuarded, item.kind == .pin, item.hasSecret { needsKeys = true }
    guard Exported.reasonToStay(item) == nil else { return }
    if isGuarded { (needsUnlock, needsKeys) = (true, true) }
    let isAsking = !item.access.constraints.isDisjoint(with: [.devicePasscode, .userPresence])
    if isAsking, asking == nil { asking = item }
  }
}

/// What was written, and what was left out and why.
private struct ExportReport {
  var items = 0
  /// How many of them are in the trash.
  var trash = 0
  /// How many former versions were written with them.
  var former = 0
  /// The one-time codes that went, or stayed, with their entries.
  var codes: Set<ItemID> = []
  var leftOut: [(id: ItemID, name: String?, reason: String)] = []
  /// Whoever declines once is not asked for the next item.
  var isDeclined = false
  /// Why the vault's own state, which no export has, does not open.
  var state: VaultError?
  /// Why items stay that do not open, or whose PIN does not.
  var damagedItems: [ItemID: String] = [:]

  init(_ found: VaultDamage) {
    state = found.state
    for item in found.behindDamagedPIN { damagedItems[item.id] = Exported.behindDamagedPIN }
    for item in found.damagedItems { damagedItems[item] = Exported.damaged }
  }

  /// Says that damaged or expired items were left out; `nil` if there were none.
  var failure: CommandError? { damage ?? expired }

  /// Whoever deletes the vault after an export must not lose what a date alone kept in it.
  private var expired: CommandError? {
    let count = leftOut.count { $0.reason == Exported.expired }
    guard count > 0 else { return nil }
    return CommandError(
      .expired, "the export was made, and expired items are left out: \(count)",
      hint: "remove their expiry with 'vaultctl edit NAME --no-expiry', then export again")
  }

  private var damage: CommandError? {
    let reasons = [Exported.damaged, Exported.behindDamagedPIN, Exported.damagedFormer]
    let count = leftOut.count { reasons.contains($0.reason) }
    guard count > 0 || state != nil else { return nil }
    let what = [
      count > 0 ? "damaged items are left out: \(count)" : nil, state?.message,
    ].compactMap(\.self)
    return CommandError(
      .damaged, "the export was made, and " + what.joined(separator: "; "),
      hint: "'vaultctl vault check' names what is wrong; a backup may have what is missing")
  }
}

extension Command {
  /// Items go out in groups: the entries of a group are on disk before its secrets leave.
  fileprivate func exportItems(to stream: OutputStream) throws -> ExportReport {
    let core = try vault.opened()
    var transaction = try core.beginReading()
    var found = FoundItems()
    var walk = ItemWalk(keepingPages: false)
    while let item = try transaction.nextReadable(&walk) { found.note(item) }
    transaction.end()
    try unlockOnce(for: found)
    let use = found.needsKeys ? Use.unlocked : .free
    var report = ExportReport(try vault.unlocking(for: use) { try $0.damage(needsKeys: true) })
    let progress = progress("exporting")
    defer { progress.finish() }
    var (last, done) = (Int64.min, 0)
    while true {
      try world.interruption.check()
      var unreadable: [(ItemID, VaultError)] = []
      var transaction = try core.beginReading()
      var group: [Item] = []
      var walk = ItemWalk(after: last, keepingPages: false)
      while group.count < Self.groupCount, let found = try transaction.nextRow(&walk) {
        switch found {
        case .item(let item): group.append(item)
        case .damaged(let id, let error): unreadable.append((id, error))
        }
      }
      transaction.end()
      for (id, error) in unreadable {
        report.leftOut.append((id, nil, error.code == .damaged ? Exported.damaged : "newerVersion"))
      }
      guard let end = group.last else { break }
      last = end.row
      let going = group.filter { !$0.isOwned || !found.codes.contains($0.id) }
      let outgoing = try vault.write(for: use) { transaction in
        try going.map { try Outgoing($0, in: &transaction) }
      }
      for item in outgoing { try write(item, to: stream, report: &report) }
      done += group.count
      progress.update(done: done, of: found.count)
      // The walk went to the end, and has told what does not open there.
      guard group.count == Self.groupCount else { break }
    }
    try noteLostCodes(found.codes.subtracting(report.codes), report: &report)
    return report
  }

  private static let groupCount = 200

  /// An item, and the one-time code of an entry in the line after it. Who must be asked for one of them is asked now.
  private func write(_ out: Outgoing, to stream: OutputStream, report: inout ExportReport) throws {
    let answer = try out.answer ?? exportConstrained(out.item, report: &report)
    try write(answer, to: stream, report: &report)
    guard let code = out.code else { return }
    report.codes.insert(code.id)
    guard answer.json != nil, report.damagedItems[out.item.id] == nil else {
      return report.leftOut.append((code.id, code.name, "entryStays"))
    }
    let codeAnswer = try out.codeAnswer ?? exportConstrained(code, of: out.item, report: &report)
    try write(codeAnswer, to: stream, report: &report)
  }

  private func write(_ answer: Exported, to stream: OutputStream, report: inout ExportReport) throws {
    let item = answer.item
    if let reason = report.damagedItems[item.id] ?? answer.reason {
      return report.leftOut.append((item.id, item.name, reason))
    }
    guard let json = answer.json else { return }
    try json.write(to: stream)
    try stream.write("\n")
    report.items += 1
    report.trash += item.isInTrash ? 1 : 0
    report.former += answer.former.count
    for reason in answer.former.leftOut { report.leftOut.append((item.id, item.name, reason)) }
  }

  /// One that another process took from its entry meanwhile went with no line.
  private func noteLostCodes(_ codes: Set<ItemID>, report: inout ExportReport) throws {
    guard !codes.isEmpty else { return }
    var transaction = try vault.opened().beginReading()
    for id in codes.sorted(by: { $0.hexadecimal < $1.hexadecimal }) {
      guard let item = try? transaction.item(id), item.isOwned else { continue }
      report.leftOut.append((id, nil, Exported.otherKind))
    }
  }

  /// Where items ask for the passcode, the one that unlocks the vault serves for them too. A vault that need not be
  /// unlocked stays locked: each item asks for itself.
  private func unlockOnce(for found: FoundItems) throws {
    guard found.needsUnlock else { return }
    let core = try vault.opened()
    guard let asking = found.asking, !core.isUnlocked,
      let context = try vault.context(for: asking.access, keeping: true)
    else { return }
    try vault.unlocking { _ in try core.unlock(with: context) }
  }

  /// An item with an access rule: who may have it is asked, once for all of them.
  ///
  /// - Parameter entry: The entry to which the item belongs, of a one-time code.
  private func exportConstrained(
    _ item: Item, of entry: Item? = nil, report: inout ExportReport
  ) throws -> Exported {
    if let reason = Exported.reasonToStay(item) { return Exported(item, reason: reason) }
    guard !report.isDeclined else { return Exported(item, reason: "declined") }
    let context = try vault.context(for: item.access, keeping: true)
    do {
      return try vault.unlocking { core in
        for _ in 0..<Self.mostTries {
          var former = ExportedFormer(item, in: core)
          try former.open { version throws(VaultError) in
            let use = Use.former(item.id, version: version, for: .exportOfAll)
            var transaction = try core.beginWriting(use, context: context)
            let content = try transaction.exportFormer(version, of: item)
            try transaction.commit()
            return content
          }
          let use = Use.secret(.exportOfAll, of: item.id, by: item.kind == .otp ? .otp : nil)
          var transaction = try core.beginWriting(use, context: context)
          let present = try transaction.item(item.id)
          // Otherwise what was read before is the history of something else.
          guard present.version == item.version || former.isEmpty else { continue }
          let result = try Exported(present, of: entry, former: former, in: &transaction)
          try transaction.commit()
          return result
        }
        throw VaultCore.changedMeanwhile
      }
    } catch let error as VaultError {
      guard let reason = Exported.reason(for: error), error.promptEnd != .signal else { throw error }
      report.isDeclined = error.code.isCancellation
      return Exported(item, reason: reason)
    }
  }

  private static let mostTries = 3

  fileprivate func outcome(_ path: String?, report: ExportReport) -> Outcome {
    for item in report.leftOut {
      messages.note("left out '\(item.name ?? item.id.hexadecimal)' (\(item.reason))")
    }
    if report.leftOut.count > 1 { messages.note("\(report.leftOut.count) items were left out") }
    if report.leftOut.contains(where: { $0.reason == "promptNeeded" }) {
      messages.note("run it where it may ask, or give what it needs, like --passcode-fd N")
    }
    guard let path else { return Outcome(json: nil, failure: report.failure) }
    messages.note("\(path) holds every secret in clear: delete it as soon as it has served")
    let leftOut = report.leftOut.map { item in
      JSON.object {
        Field("id", item.id.hexadecimal)
        Field("name", item.name)
        Field("reason", item.reason)
      }
    }
    return Outcome(
      json: .object {
        Field("path", path)
        Field("items", report.items)
        if report.trash > 0 { Field("trash", report.trash) }
        if report.former > 0 { Field("former", report.former) }
        Field("leftOut", .array(leftOut))
      },
      lines: ["export  \(printable(path))", "items   \(report.items)"]
        + (report.trash > 0 ? ["trash   \(report.trash)"] : [])
        + (report.former > 0 ? ["former  \(report.former)"] : []), failure: report.failure)
  }
}
