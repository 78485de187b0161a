/// The vault's own state row: failures of the passcode, counted before a derivation runs (section 7, layout 2).
package struct VaultState: Sendable, Equatable {
  private typealias Offset = FieldOffset.VaultState

  package var failures: UInt32 = 0
  package var failureBootMilliseconds: UInt64 = 0
  package var boot = [UInt8](repeating: 0, count: 16)
  package var failureWall = Instant(milliseconds: 0)
  package var delayMilliseconds: UInt64 = 0
  /// Consecutive wrong phrases and fingers.
  package var biometryFailures: UInt32 = 0
  /// Counted attempts whose verdict is not written yet. Until it is written, they count as failures.
  package var underWay: UInt32 = 0
  /// The attempts without a verdict that no longer count, because a passcode was right since then.
  package var forgiven: UInt32 = 0
  /// The row as it was read: bytes that are no field of this version are kept.
  private let stored: [UInt8]

  package init() {
    var bytes = [UInt8](repeating: 0, count: ItemState.byteCount)
    bytes[Offset.layout] = 2
    stored = bytes
  }

  package init(bytes: [UInt8]) throws(VaultError) {
    guard bytes.count == ItemState.byteCount, bytes[Offset.layout] == 2 else {
      throw VaultError(.damaged, "the vault's own state is not readable")
    }
    stored = bytes
    failures = bytes.bigEndian(at: Offset.failures)
    failureBootMilliseconds = bytes.bigEndian(at: Offset.failureBootTime)
    boot = Array(bytes[Offset.boot..<Offset.boot + 16])
    failureWall = Instant(milliseconds: Int64(bitPattern: bytes.bigEndian(at: Offset.failureWall)))
    delayMilliseconds = bytes.bigEndian(at: Offset.delay)
    biometryFailures = bytes.bigEndian(at: Offset.biometryFailures)
    underWay = bytes.bigEndian(at: Offset.underWay)
    forgiven = bytes.bigEndian(at: Offset.forgiven)
  }

  package var bytes: [UInt8] {
    var bytes = stored
    bytes.setBigEndian(failures, at: Offset.failures)
    bytes.setBigEndian(failureBootMilliseconds, at: Offset.failureBootTime)
    bytes.replaceSubrange(Offset.boot..<Offset.boot + 16, with: boot)
    bytes.setBigEndian(UInt64(bitPattern: failureWall.milliseconds), at: Offset.failureWall)
    bytes.setBigEndian(delayMilliseconds, at: Offset.delay)
    bytes.setBigEndian(biometryFailures, at: Offset.biometryFailures)
    bytes.setBigEndian(underWay, at: Offset.underWay)
    bytes.setBigEndian(forgiven, at: Offset.forgiven)
    return bytes
  }
}
