import VaultFormat

/// The result of a purge.
public struct PurgeReport: Sendable {
  /// The rotation of the epoch that it made.
  public let rotation: RotationReport
  /// The replaced device keys that were deleted afterwards, in addition to the one before this purge.
  public let deletedKeys: [DeviceKeyID]
  /// Why replaced device keys still exist, one error for each cause. With an old device key, a copy of the file from
  /// its time still opens.
  public let keptKeys: [VaultError]
}
