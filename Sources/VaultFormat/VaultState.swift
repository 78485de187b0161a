/// The vault's own state row: failures of the passcode, counted before a derivation runs (section 7, layout 2).
package struct VaultState: Sendable {
  private typealias Offset = FieldOffset.VaultState
  private static let bootBytes = Offset.boot..<Offset.boot + 16

  package var bytes: [UInt8]

  package init() {
    bytes = [UInt8](repeating: 0, count: ItemState.byteCount)
    bytes[Offset.layout] = 2
  }

  package init(bytes: [UInt8]) throws(VaultError) {
    guard bytes.count == ItemState.byteCount, bytes[Offset.layout] == 2 else {
      throw VaultError(.damaged, "the vault's own state is not readable")
    }
    self.bytes = bytes
  }

  package var failures: UInt32 {
    get { bytes.bigEndian(at: Offset.failures) }
    set { bytes.setBigEndian(newValue, at: Offset.failures) }
  }
  package var failureBootMilliseconds: UInt64 {
    get { bytes.bigEndian(at: Offset.failureBootTime) }
    set { bytes.setBigEndian(newValue, at: Offset.failureBootTime) }
  }
  package var boot: [UInt8] {
    get { Array(bytes[Self.bootBytes]) }
    set { bytes.replaceSubrange(Self.bootBytes, with: newValue) }
  }
  package var failureWall: Instant {
    get { Instant(milliseconds: Int64(bitPattern: bytes.bigEndian(at: Offset.failureWall))) }
    set { bytes.setBigEndian(UInt64(bitPattern: newValue.milliseconds), at: Offset.failureWall) }
  }
  package var delayMilliseconds: UInt64 {
    get { bytes.bigEndian(at: Offset.delay) }
    set { bytes.setBigEndian(newValue, at: Offset.delay) }
  }
  /// Consecutive wrong phrases and fingers.
  package var biometryFailures: UInt32 {
    get { bytes.bigEndian(at: Offset.biometryFailures) }
    set { bytes.setBigEndian(newValue, at: Offset.biometryFailures) }
  }
  /// Counted attempts whose verdict is not written yet. Until it is written, they count as failures.
  package var underWay: UInt32 {
    get { bytes.bigEndian(at: Offset.underWay) }
    set { bytes.setBigEndian(newValue, at: Offset.underWay) }
  }
  /// The attempts without a verdict that no longer count, because a passcode was right since then.
  package var forgiven: UInt32 {
    get { bytes.bigEndian(at: Offset.forgiven) }
    set { bytes.setBigEndian(newValue, at: Offset.forgiven) }
  }
}
