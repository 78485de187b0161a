package import VaultFormat
import VaultStorage

/// What a vault shows without a key.
package struct VaultOutline: Sendable {
  package let vault: VaultID
  package let protector: ProtectorKind
  package let deviceKey: DeviceKeyID
  package let created: Instant
  package let hasPasscode: Bool
  package let hasRecoveryCode: Bool

  /// The outline of the vault at a path, for `status` and error messages.
  package init(at path: String) throws(VaultError) {
    let header = try stored(at: path) { () throws(StorageError) in
      var store = try Store.open(at: path, access: .readOnly)
      return try store.header()
    }
    self.init(try Header(decoding: header.body))
  }

  package init(_ header: Header) {
    (vault, protector, deviceKey, created) = (
      header.vault, header.protector, header.deviceKey, header.created
    )
    (hasPasscode, hasRecoveryCode) = (header.hasPasscode, header.recoveryHalf != nil)
  }
}
