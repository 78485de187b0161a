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
    "Left out, and listed: items in the trash (trash), items of this device only, items whose expiry refuses them (expired), kinds that are neither password nor "
      + "one-time-password credential, credentials behind a PIN (behindPIN; behindDamagedPIN where that PIN does not open), activations that are not complete (activation), "
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
    "Former versions are left out too; a message says of how many entries. A backup has them, and the trash.",
    "With --json, which needs FILE: path, items (how many), former (entries whose former versions are left out), leftOut with id, name and reason.",
  ]
  static let example = "vaultctl export jsonl items.jsonl --plain"
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
    let report = try command.exportItems(to: destination.stream)
    try destination.finish()
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

  mutating func note(_ item: Item) {
    count += 1
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
  /// How many of them have former versions, which stay.
  var former = 0
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
    let count = leftOut.count { [Exported.damaged, Exported.behindDamagedPIN].contains($0.reason) }
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
      let unasked = try vault.write(for: use) { transaction in
        try group.map { $0.isConstrained ? nil : try Exported(unasked: $0.id, in: &transaction) }
      }
      for (item, answer) in zip(group, unasked) {
        let answer = try answer ?? exportConstrained(item, report: &report)
        if let reason = report.damagedItems[item.id] ?? answer.reason {
          report.leftOut.append((answer.item.id, answer.item.name, reason))
        } else if let json = answer.json {
          try json.write(to: stream)
          try stream.write("\n")
          report.items += 1
          if answer.hasFormer { report.former += 1 }
        }
      }
      done += group.count
      progress.update(done: done, of: found.count)
      // The walk went to the end, and has told what does not open there.
      guard group.count == Self.groupCount else { break }
    }
    return report
  }

  private static let groupCount = 200

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
  private func exportConstrained(_ item: Item, report: inout ExportReport) throws -> Exported {
    if let reason = Exported.reasonToStay(item) { return Exported(item, reason: reason) }
    guard !report.isDeclined else { return Exported(item, reason: "declined") }
    let context = try vault.context(for: item.access, keeping: true)
    do {
      return try vault.unlocking { core in
        let use = Use.secret(.export, of: item.id, by: item.kind == .otp ? .otp : nil)
        var transaction = try core.beginWriting(use, context: context)
        let result = try Exported(transaction.item(item.id), in: &transaction)
        try transaction.commit()
        return result
      }
    } catch let error as VaultError {
      guard let reason = Exported.reason(for: error), error.promptEnd != .signal else { throw error }
      report.isDeclined = error.code.isCancellation
      return Exported(item, reason: reason)
    }
  }

  fileprivate func outcome(_ path: String?, report: ExportReport) -> Outcome {
    for item in report.leftOut {
      messages.note("left out '\(item.name ?? item.id.hexadecimal)' (\(item.reason))")
    }
    if report.leftOut.count > 1 { messages.note("\(report.leftOut.count) items were left out") }
    if report.former > 0 {
      messages.note("entries with former versions, which an export leaves out: \(report.former)")
    }
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
        if report.former > 0 { Field("former", report.former) }
        Field("leftOut", .array(leftOut))
      }, lines: ["export  \(printable(path))", "items   \(report.items)"], failure: report.failure)
  }
}

/// An item on its way out: its line, or why it stays.
private struct Exported {
  let item: Item
  var json: JSON?
  var reason: String?
  /// Whether it has former versions, which no line has.
  var hasFormer = false

  /// One that stays.
  init(_ item: Item, reason: String) {
    self.item = item
    self.reason = reason
  }

  /// One that nobody is asked for.
  init(unasked id: ItemID, in transaction: inout WriteTransaction) throws(VaultError) {
    let item = try transaction.item(id)
    if let reason = Self.reasonToStay(item) {
      self.init(item, reason: reason)
      return
    }
    do throws(VaultError) { try self.init(item, in: &transaction) } catch {
      guard let reason = Self.reason(for: error) else { throw error }
      self.init(item, reason: reason)
    }
  }

  /// One that may go: with the grant of whoever was asked, where its access rule wants one.
  init(_ item: Item, in transaction: inout WriteTransaction) throws(VaultError) {
    self.item = item
    json = try Self.line(item, in: &transaction)
    if item.kind.rules.canBeEntry { hasFormer = try !transaction.reading.history(of: item.id).isEmpty }
  }

  /// What keeps an item here whoever asks for it.
  static func reasonToStay(_ item: Item) -> String? {
    if item.isInTrash { return "trash" }
    if let stay = item.reasonToStay { return stay.rawValue }
    if item.isBehindPIN { return "behindPIN" }
    if item.isActivation { return "activation" }
    let isKnown = item.kind == .genericPassword || item.kind == .otp
    return item.name != nil && item.hasSecret && isKnown ? nil : "otherKind"
  }

  private static func line(
    _ item: Item, in transaction: inout WriteTransaction
  ) throws(VaultError) -> JSON {
    var fields: [(String, JSON)] = [("kind", .string(item.kind.word)), ("name", .string(item.name ?? ""))]
    for (key, attribute) in ItemLine.attributes {
      fields += JSON.optional(key, item.attributes[attribute].map { .string($0) })
    }
    if !item.tags.isEmpty { fields.append(("tags", item.tags.json)) }
    fields += [
      ("accessible", .string(item.access.accessibility.word)),
      ("audit", .string(item.audit == .all ? "all" : "changes")),
      ("created", .integer(item.created.seconds)), ("modified", .integer(item.modified.seconds)),
    ]
    fields += JSON.optional("expires", item.expires.map { .integer($0.seconds) })
    if item.kind.isGivenWhenExpired, item.expiry == .refuse { fields.append(("expiry", .string("refuse"))) }
    if item.isConstrained {
      fields.append(("access", .string(item.access.constraints.shown.joined(separator: ","))))
    }
    guard item.kind == .otp else {
      let members = try transaction.exportEntry(of: item).exported()
      try transaction.log(.exported, item: item)
      return .object(fields + members)
    }
    let isVerifier = item.attributes[.otpRole] == OTPRole.verifier.rawValue
    fields.append(("role", .string(isVerifier ? "verifier" : "prover")))
    if isVerifier { fields += JSON.optional("window", item.attributes[.otpWindow].map { .integer($0) }) }
    let state = try transaction.state(of: item.id)
    if state.needsResync { fields.append(("needsResync", .boolean(true))) }
    if item.countsCodes, state.isBlocked { fields.append(("exhausted", .boolean(true))) }
    if let suite = item.attributes[.ocraSuite] {
      fields.append(("suite", .string(suite)))
      if item.countsCodes { fields.append(("counter", .unsigned(state.counter))) }
      let secret = SharedSecret(try transaction.exportOCRA(item))
      return .object(fields + [("secretBase64", .secretBase64(secret))])
    }
    return .object(
      fields + [("uri", .secretText(SharedSecret(try transaction.exportOTP(item))))])
  }

  /// The word for what does not open.
  static let damaged = "damaged"
  /// The word for what its expiry refuses.
  static let expired = "expired"
  /// The word for what no PIN opens any longer.
  static let behindDamagedPIN = "behindDamagedPIN"

  static func reason(for error: VaultError) -> String? {
    error.code == .damaged ? damaged : reasons[error.code]
  }

  /// What keeps one item back and is no reason to keep all.
  private static let reasons: [VaultError.Code: String] = [
    .expired: Exported.expired, .unsupported: "accessNotSupported", .interactionNotAllowed: "promptNeeded",
    .verificationNeeded: "promptNeeded", .verificationUnavailable: "promptNeeded", .cancelled: "declined",
    .timedOut: "declined", .appCancelled: "declined", .itemNotFound: "beyondReach",
    .invalidated: "beyondReach",
  ]
}
