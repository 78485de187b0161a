package import VaultKit

/// What a credential keeps of its synchronizations in its state (section 7).
extension ItemState {
  /// The wall time of the last synchronization with the server; zero when there was none.
  package var lastSynchronization: Instant {
    get { Instant(milliseconds: Int64(bitPattern: bytes.bigEndian(at: Offset.lastSync))) }
    set { bytes.setBigEndian(UInt64(bitPattern: newValue.milliseconds), at: Offset.lastSync) }
  }
  /// The number of codes since the last synchronization.
  package var codesSinceSynchronization: UInt32 {
    get { bytes.bigEndian(at: Offset.codesSinceSync) }
    set { bytes.setBigEndian(newValue, at: Offset.codesSinceSync) }
  }
  /// What a prover adds to its wall clock, in seconds.
  package var secondsOffset: Int32 {
    get { Int32(bitPattern: bytes.bigEndian(at: Offset.secondsOffset)) }
    set { bytes.setBigEndian(UInt32(bitPattern: newValue), at: Offset.secondsOffset) }
  }

  private enum Offset {
    static let lastSync = 144
    static let codesSinceSync = 152
    static let secondsOffset = 156
  }
}
