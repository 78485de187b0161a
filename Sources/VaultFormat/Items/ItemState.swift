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
    get { has(.lastAccepted) ? bytes.bigEndian(at: Offset.lastAccepted) : nil }
    set {
      set(.lastAccepted, newValue != nil)
      bytes.setBigEndian(newValue ?? 0, at: Offset.lastAccepted)
    }
  }
  /// Set when the counter may be behind its server: after a restore, and by the first commit to a copy of the file.
  ///
  /// A one-time password gives no code until its component has settled it. For an item of a program's own kind
  /// (``ItemKind/isOfPrograms``), the program decides what to do, and sets it back to `false`.
  public var needsResync: Bool {
    get { has(.needsResync) }
    set { set(.needsResync, newValue) }
  }
  /// Set when no further code may be made or accepted.
  public var isBlocked: Bool {
    get { has(.blocked) }
    set { set(.blocked, newValue) }
  }
  /// Failures in a row.
  public var failures: UInt32 {
    get { bytes.bigEndian(at: Offset.failures) }
    set { bytes.setBigEndian(newValue, at: Offset.failures) }
  }
  /// The wall time of the last use; zero when never used.
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

  /// Whether a change of a camouflaged PIN waits for its confirmation.
  package var hasPendingOffset: Bool {
    get { has(.pendingOffset) }
    set { set(.pendingOffset, newValue) }
  }

  private static let boot = Offset.failureBoot..<Offset.failureBoot + 16

  private enum Bit: UInt8 {
    case needsResync = 1
    case blocked = 2
    case lastAccepted = 4
    case pendingOffset = 8
  }
  private func has(_ bit: Bit) -> Bool { bytes[Offset.bits] & bit.rawValue != 0 }
  private mutating func set(_ bit: Bit, _ on: Bool) {
    if on { bytes[Offset.bits] |= bit.rawValue } else { bytes[Offset.bits] &= ~bit.rawValue }
  }
}
