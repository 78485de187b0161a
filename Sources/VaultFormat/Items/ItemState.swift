import VaultStorage

// Layout 1 of docs/format/vault-file.md, section 7. Bytes unknown to this version are kept.

/// The small mutable part of an item: counters, failures, offsets. 160 bytes, sealed, rewritten separately.
public struct ItemState: Sendable, Equatable {
  private typealias Offset = FieldOffset.ItemState

  package var bytes: [UInt8]

  /// A fresh state: all zero.
  public init() {
    bytes = [UInt8](repeating: 0, count: Self.byteCount)
    bytes[Offset.layout] = 1
  }

  package init(bytes: [UInt8]) throws(VaultError) {
    try unsafe Self.check(bytes.span.bytes)
    self.bytes = bytes
  }

  /// Copies the bytes of another state into this one. Allocates an array only if this one is shared.
  ///
  /// - Throws: As ``init(bytes:)``. This state then stays as it was.
  package mutating func replace(by other: RawSpan) throws(VaultError) {
    try Self.check(other)
    unsafe bytes.withUnsafeMutableBytes { own in
      unsafe other.withUnsafeBytes { unsafe own.copyMemory(from: $0) }
    }
  }

  private static func check(_ bytes: RawSpan) throws(VaultError) {
    guard bytes.byteCount == byteCount else {
      throw VaultError(.damaged, "an item's state is not readable")
    }
    // The seal has shown that a program with the keys wrote these bytes.
    guard bytes.byte(at: Offset.layout) == 1 else {
      throw VaultError(
        .unsupported, "an item's state has a layout that this version does not know",
        hint: .useNewerVersion)
    }
  }

  package static let byteCount = 160

  /// For a prover, the next moving factor; for a verifier, the lowest acceptable one.
  public var counter: UInt64 {
    get { bytes.bigEndian(at: Offset.counter) }
    set { bytes.setBigEndian(newValue, at: Offset.counter) }
  }
  /// The last accepted step or counter of a verifier, or the last counter used at the end of the range.
  public var lastAccepted: UInt64? {
    get { has(Bit.lastAccepted) ? bytes.bigEndian(at: Offset.lastAccepted) : nil }
    set {
      set(Bit.lastAccepted, newValue != nil)
      bytes.setBigEndian(newValue ?? 0, at: Offset.lastAccepted)
    }
  }
  /// Set when the counter may be behind its server: after a restore, and by the first commit to a copy of the file.
  ///
  /// A one-time password gives no code until its component has settled it. For an item of a program's own kind
  /// (``ItemKind/isOfPrograms``), the program decides what to do, and sets it back to `false`.
  public var needsResync: Bool {
    get { has(Bit.needsResync) }
    set { set(Bit.needsResync, newValue) }
  }
  /// Set when no further code may be made or accepted.
  public var isBlocked: Bool {
    get { has(Bit.blocked) }
    set { set(Bit.blocked, newValue) }
  }
  /// Failures in a row.
  public var failures: UInt32 {
    get { bytes.bigEndian(at: Offset.failures) }
    set { bytes.setBigEndian(newValue, at: Offset.failures) }
  }
  /// The wall time of the last use, as the clock of then had it; zero when never used. Nothing is decided by it.
  public var lastUse: Instant {
    get { Instant(milliseconds: Int64(bitPattern: bytes.bigEndian(at: Offset.lastUse))) }
    set { bytes.setBigEndian(UInt64(bitPattern: newValue.milliseconds), at: Offset.lastUse) }
  }
  /// Milliseconds since boot of the last failure.
  package var failureBootMilliseconds: UInt64 {
    get { bytes.bigEndian(at: Offset.failureBootTime) }
    set { bytes.setBigEndian(newValue, at: Offset.failureBootTime) }
  }
  /// The boot of the last failure, 16 bytes, zero when unknown.
  package var failureBoot: [UInt8] {
    get { Array(bytes[Self.boot]) }
    set { bytes.replaceSubrange(Self.boot, with: (newValue + [UInt8](repeating: 0, count: 16)).prefix(16)) }
  }
  /// The delay after the last failure, in milliseconds.
  package var delayMilliseconds: UInt64 {
    get { bytes.bigEndian(at: Offset.delay) }
    set { bytes.setBigEndian(newValue, at: Offset.delay) }
  }
  /// The clock offset of the other side, in steps.
  package var clockOffset: Int64 {
    get { Int64(bitPattern: bytes.bigEndian(at: Offset.clockOffset)) }
    set { bytes.setBigEndian(UInt64(bitPattern: newValue), at: Offset.clockOffset) }
  }
  /// The number of codes that were given since the server last confirmed one.
  public var unconfirmed: UInt32 {
    get { bytes.bigEndian(at: Offset.unconfirmed) }
    set { bytes.setBigEndian(newValue, at: Offset.unconfirmed) }
  }
  /// The total number of uses.
  public var uses: UInt64 {
    get { bytes.bigEndian(at: Offset.uses) }
    set { bytes.setBigEndian(newValue, at: Offset.uses) }
  }

  // MARK: What components keep

  /// Attempts that are counted and have no written verdict.
  package var attemptsUnderWay: UInt32 {
    get { bytes.bigEndian(at: Offset.underWay) }
    set { bytes.setBigEndian(newValue, at: Offset.underWay) }
  }
  /// How far the item is in the protocol of its component, which knows the numbers.
  package var progress: UInt8 {
    get { bytes[Offset.progress] }
    set { bytes[Offset.progress] = newValue }
  }
  /// Wrong codes for an unlock.
  package var wrongUnlockCodes: UInt8 {
    get { bytes[Offset.wrongUnlockCodes] }
    set { bytes[Offset.wrongUnlockCodes] = newValue }
  }
  /// When the present state ends; `nil` if it lasts.
  package var deadline: Deadline? {
    get {
      let deadline = unsafe Deadline(bytes.span.bytes, at: Offset.deadline)
      return deadline.milliseconds > 0 ? deadline : nil
    }
    set {
      set(newValue?.bytes ?? [], at: Offset.deadline, count: 24)
    }
  }

  /// What the component makes of ``progress``.
  ///
  /// - Throws: ``VaultError/Code/unsupported`` for a number that this version does not know.
  package func progress<Progress: Numbered>(
    as type: Progress.Type
  ) throws(VaultError) -> Progress {
    guard let progress = Progress(number: progress) else {
      throw VaultError(
        .unsupported, "the item is in a state that this version does not know", hint: .useNewerVersion)
    }
    return progress
  }

  /// Writes bytes at an offset, with zeros after them up to `count`.
  package mutating func set(_ values: [UInt8], at offset: Int, count: Int) {
    let padded = (values + [UInt8](repeating: 0, count: count)).prefix(count)
    bytes.replaceSubrange(offset..<offset + count, with: padded)
  }

  /// Keeps what a newer state of the same item must not lose when an older one is restored.
  package mutating func keepProgress(of newer: ItemState, kind: ItemKind) {
    counter = max(counter, newer.counter)
    failures = max(failures, newer.failures)
    uses = max(uses, newer.uses)
    lastAccepted = [lastAccepted, newer.lastAccepted].compactMap { $0 }.max()
    isBlocked = isBlocked || newer.isBlocked
    guard !kind.isOfPrograms else { return }
    attemptsUnderWay = max(attemptsUnderWay, newer.attemptsUnderWay)
    wrongUnlockCodes = max(wrongUnlockCodes, newer.wrongUnlockCodes)
    kind.rules.state.keep(&self, newer)
  }

  /// Keeps what decides, in items of all kinds, of an item whose kind is not known: of two states the one with the larger number,
  /// with its deadline, and the larger count of codes.
  mutating func keepStanding(of newer: ItemState) {
    if newer.progress > progress { (progress, deadline) = (newer.progress, newer.deadline) }
    if newer.lateCodes > lateCodes { lateCodes = newer.lateCodes }
  }

  /// What a credential counts since its last synchronization.
  private var lateCodes: UInt32 {
    get { bytes.bigEndian(at: Offset.lateCodes) }
    set { bytes.setBigEndian(newValue, at: Offset.lateCodes) }
  }

  // MARK: Bits

  private static let boot = Offset.failureBoot..<Offset.failureBoot + 16

  private enum Bit {
    static let needsResync: UInt8 = 1
    static let blocked: UInt8 = 2
    static let lastAccepted: UInt8 = 4
  }
  package func has(_ bit: UInt8) -> Bool { bytes[Offset.bits] & bit != 0 }
  package mutating func set(_ bit: UInt8, _ on: Bool) {
    if on { bytes[Offset.bits] |= bit } else { bytes[Offset.bits] &= ~bit }
  }
}
