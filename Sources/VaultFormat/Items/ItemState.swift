/// The small mutable part of an item: counters, failures, offsets. 160 bytes, sealed, rewritten alone.
///
/// Layout 1 of docs/format/vault-file.md, section 7. Bytes unknown to this version are kept.
public struct ItemState: Sendable, Equatable {
  package var bytes: [UInt8]

  /// A fresh state: all zero.
  public init() {
    bytes = [UInt8](repeating: 0, count: Self.byteCount)
    bytes[0] = 1
  }

  package init(bytes: [UInt8]) throws(VaultError) {
    guard bytes.count == Self.byteCount else {
      throw VaultError(.damaged, "an item's state is not readable")
    }
    // The seal has shown that a program with the keys wrote it.
    guard bytes[0] == 1 else {
      throw VaultError(
        .unsupported, "an item's state has a layout that this version does not know",
        hint: .useNewerVersion)
    }
    self.bytes = bytes
  }

  package static let byteCount = 160

  /// The next moving factor of a prover, the lowest acceptable one of a verifier.
  public var counter: UInt64 {
    get { bytes.bigEndian(at: 8) }
    set { bytes.setBigEndian(newValue, at: 8) }
  }
  /// The last accepted step or counter of a verifier, or the last counter used at the end of the range.
  public var lastAccepted: UInt64? {
    get { has(.lastAccepted) ? bytes.bigEndian(at: 16) : nil }
    set {
      set(.lastAccepted, newValue != nil)
      bytes.setBigEndian(newValue ?? 0, at: 16)
    }
  }
  /// Set when the counter may be behind its server: after a restore or a copy.
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
    get { bytes.bigEndian(at: 4) }
    set { bytes.setBigEndian(newValue, at: 4) }
  }
  /// The wall time of the last use; zero when never used.
  public var lastUse: Instant {
    get { Instant(milliseconds: Int64(bitPattern: bytes.bigEndian(at: 24))) }
    set { bytes.setBigEndian(UInt64(bitPattern: newValue.milliseconds), at: 24) }
  }
  /// Milliseconds since boot of the last failure.
  public var failureBootMilliseconds: UInt64 {
    get { bytes.bigEndian(at: 32) }
    set { bytes.setBigEndian(newValue, at: 32) }
  }
  /// The boot of the last failure, 16 bytes, zero when unknown.
  public var failureBoot: [UInt8] {
    get { Array(bytes[40..<56]) }
    set { bytes.replaceSubrange(40..<56, with: (newValue + [UInt8](repeating: 0, count: 16)).prefix(16)) }
  }
  /// The delay from the last failure on, in milliseconds.
  public var delayMilliseconds: UInt64 {
    get { bytes.bigEndian(at: 56) }
    set { bytes.setBigEndian(newValue, at: 56) }
  }
  /// The clock offset of the other side, in steps.
  public var clockOffset: Int64 {
    get { Int64(bitPattern: bytes.bigEndian(at: 64)) }
    set { bytes.setBigEndian(UInt64(bitPattern: newValue), at: 64) }
  }
  /// Uses in all.
  public var uses: UInt64 {
    get { bytes.bigEndian(at: 104) }
    set { bytes.setBigEndian(newValue, at: 104) }
  }

  private enum Bit: UInt8 {
    case needsResync = 1
    case blocked = 2
    case lastAccepted = 4
  }
  private func has(_ bit: Bit) -> Bool { bytes[1] & bit.rawValue != 0 }
  private mutating func set(_ bit: Bit, _ on: Bool) {
    if on { bytes[1] |= bit.rawValue } else { bytes[1] &= ~bit.rawValue }
  }
}
