/// The vault's own state row: failures of the passcode, counted before a derivation runs (section 7, layout 2).
package struct VaultState: Sendable {
  package var bytes: [UInt8]

  package init() {
    bytes = [UInt8](repeating: 0, count: ItemState.byteCount)
    bytes[0] = 2
  }

  package init(bytes: [UInt8]) throws(VaultError) {
    guard bytes.count == ItemState.byteCount, bytes[0] == 2 else {
      throw VaultError(.damaged, "the vault's own state is not readable")
    }
    self.bytes = bytes
  }

  package var failures: UInt32 {
    get { bytes.bigEndian(at: 4) }
    set { bytes.setBigEndian(newValue, at: 4) }
  }
  package var failureBootMilliseconds: UInt64 {
    get { bytes.bigEndian(at: 8) }
    set { bytes.setBigEndian(newValue, at: 8) }
  }
  package var boot: [UInt8] {
    get { Array(bytes[16..<32]) }
    set { bytes.replaceSubrange(16..<32, with: newValue) }
  }
  package var failureWall: Instant {
    get { Instant(milliseconds: Int64(bitPattern: bytes.bigEndian(at: 32))) }
    set { bytes.setBigEndian(UInt64(bitPattern: newValue.milliseconds), at: 32) }
  }
  package var delayMilliseconds: UInt64 {
    get { bytes.bigEndian(at: 40) }
    set { bytes.setBigEndian(newValue, at: 40) }
  }
  /// Wrong phrases and fingers in a row.
  package var biometryFailures: UInt32 {
    get { bytes.bigEndian(at: 48) }
    set { bytes.setBigEndian(newValue, at: 48) }
  }
  /// Attempts counted whose verdict is not written yet: they count as failures until it is.
  package var underWay: UInt32 {
    get { bytes.bigEndian(at: 52) }
    set { bytes.setBigEndian(newValue, at: 52) }
  }
  /// Of the attempts without a verdict, those that no longer count, because a passcode was right since.
  package var forgiven: UInt32 {
    get { bytes.bigEndian(at: 56) }
    set { bytes.setBigEndian(newValue, at: 56) }
  }
}
