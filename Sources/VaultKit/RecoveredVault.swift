/// A recovered vault and the items that were lost with the old device key.
public struct RecoveredVault: Sendable {
  /// The open vault. If it has a passcode, it is locked.
  public let vault: Vault
  /// The items of ``AccessControl/thisDeviceOnly``, which depended on the lost key. They are gone for good.
  public let lost: DestroyedItems
}
