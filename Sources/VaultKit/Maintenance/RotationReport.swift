import SealedStorage
import VaultFormat

/// The result of a rotation of the epoch.
public struct RotationReport: Sendable {
  /// The generation of the keys, from 1.
  public let generation: UInt32
  /// How many items the vault has.
  public let items: Int
  /// The parts that did not open and were removed or made again, because the caller asked for that.
  public let dropped: [DamagedPart]
}
