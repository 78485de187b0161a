import AuthenticatorKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// An item of a group, and the one-time code of an entry; `nil` for the answer where a person is asked first.
struct Outgoing {
  let item: Item
  var code: Item?
  var answer: Exported?
  var codeAnswer: Exported?

  init(_ found: Item, in transaction: inout WriteTransaction) throws(VaultError) {
    item = try transaction.item(found.id)
    code = try transaction.reading.owned(by: item)
    guard !item.isConstrained else { return }
    let answer = try Exported(unasked: item, in: &transaction)
    self.answer = answer
    guard let code, !code.isConstrained, answer.json != nil else { return }
    codeAnswer = try Exported(unasked: code, of: item, in: &transaction)
  }
}

extension Item {
  /// When its time in the trash ends.
  fileprivate var trashEndSeconds: Int64? { isInTrash ? expires?.seconds : nil }
}

/// The former versions of an entry, on their way out, the oldest first.
struct ExportedFormer {
  private var versions: [FormerVersion] = []
  private(set) var json: [JSON] = []
  /// Why some stay.
  private(set) var leftOut: [String] = []

  var count: Int { json.count }
  var isEmpty: Bool { versions.isEmpty && leftOut.isEmpty }

  init() {}

  init(_ item: Item, in core: VaultCore) {
    self.init(item) { () throws(VaultError) in try core.history(of: item.id) }
  }

  init(_ item: Item, in transaction: inout WriteTransaction) {
    self.init(item) { () throws(VaultError) in try transaction.reading.history(of: item.id) }
  }

  private init(_ item: Item, _ history: () throws(VaultError) -> [FormerVersion]) {
    guard item.kind.rules.canBeEntry else { return }
    do throws(VaultError) { versions = try history().reversed() } catch { leaveOut(error) }
  }

  /// Opens each of them. One that does not open stays, and keeps nothing else back.
  mutating func open(_ content: (UInt64) throws(VaultError) -> EntryContent) throws(VaultError) {
    for version in versions {
      do throws(VaultError) {
        let members = try content(version.version).exported()
        json.append(.object([("until", .integer(version.until.seconds))] + members))
      } catch {
        guard error.isUnreadable else { throw error }
        leaveOut(error)
      }
    }
  }

  private mutating func leaveOut(_ error: VaultError) {
    leftOut.append(error.isNewerVersion ? "newerFormer" : Exported.damagedFormer)
  }
}

/// An item on its way out: its line, or why it stays.
struct Exported {
  let item: Item
  var json: JSON?
  var reason: String?
  var former = ExportedFormer()

  /// One that stays.
  init(_ item: Item, reason: String) {
    self.item = item
    self.reason = reason
  }

  /// One that nobody is asked for.
  ///
  /// - Parameter entry: The entry to which it belongs, of a one-time code.
  init(unasked item: Item, of entry: Item? = nil, in transaction: inout WriteTransaction) throws(VaultError) {
    let isOrphan = item.isOwned && entry == nil && !item.isInTrash
    if let reason = isOrphan ? Self.otherKind : Self.reasonToStay(item) {
      self.init(item, reason: reason)
      return
    }
    do throws(VaultError) {
      var former = ExportedFormer(item, in: &transaction)
      try former.open { version throws(VaultError) in try transaction.exportFormer(version, of: item) }
      try self.init(item, of: entry, former: former, in: &transaction)
    } catch {
      guard let reason = Self.reason(for: error) else { throw error }
      self.init(item, reason: reason)
    }
  }

  /// One that may go: with the grant of whoever was asked, where its access rule wants one.
  init(
    _ item: Item, of entry: Item?, former: ExportedFormer, in transaction: inout WriteTransaction
  ) throws(VaultError) {
    self.item = entry.map(item.found) ?? item
    self.former = former
    json = try Self.line(item, of: entry, former: former, in: &transaction)
  }

  /// What keeps an item here whoever asks for it.
  static func reasonToStay(_ item: Item) -> String? {
    if let stay = item.reasonToStay { return stay.rawValue }
    if item.isBehindPIN { return "behindPIN" }
    if item.isActivation { return "activation" }
    let isKnown = item.kind == .genericPassword || item.kind == .otp
    return (item.name != nil || item.isOwned) && item.hasSecret && isKnown ? nil : otherKind
  }

  private static func line(
    _ item: Item, of entry: Item?, former: ExportedFormer, in transaction: inout WriteTransaction
  ) throws(VaultError) -> JSON {
    var fields: [(String, JSON)] = [("kind", .string(item.kind.word))]
    fields += JSON.optional("name", (entry ?? item).name.map { .string($0) })
    if entry != nil { fields.append(("ofEntry", .boolean(true))) }
    if let end = (entry ?? item).trashEndSeconds { fields.append(("trashUntil", .integer(end))) }
    for (key, attribute) in ItemLine.attributes {
      fields += JSON.optional(key, item.attributes[attribute].map { .string($0) })
    }
    if !item.tags.isEmpty { fields.append(("tags", item.tags.json)) }
    fields += [
      ("accessible", .string(item.access.accessibility.word)),
      ("audit", .string(item.audit == .all ? "all" : "changes")),
      ("created", .integer(item.created.seconds)), ("modified", .integer(item.modified.seconds)),
    ]
    fields += JSON.optional("expires", item.ownExpiry.map { .integer($0.seconds) })
    if item.kind.isGivenWhenExpired, item.expiry == .refuse { fields.append(("expiry", .string("refuse"))) }
    if item.isConstrained {
      fields.append(("access", .string(item.access.constraints.shown.joined(separator: ","))))
    }
    guard item.kind == .otp else {
      let members = try transaction.exportEntry(of: item).exported()
      try transaction.log(.exported, item: item)
      return .object(fields + members + (former.count > 0 ? [("former", .array(former.json))] : []))
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
      let secret = SharedSecret(try transaction.exportOCRA(item, for: .exportOfAll))
      return .object(fields + [("secretBase64", .secretBase64(secret))])
    }
    return .object(
      fields + [("uri", .secretText(SharedSecret(try transaction.exportOTP(item, for: .exportOfAll))))])
  }

  /// The word for what does not open.
  static let damaged = "damaged"
  /// The word for former versions that do not open.
  static let damagedFormer = "damagedFormer"
  /// The word for what no line has a place for.
  static let otherKind = "otherKind"
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
