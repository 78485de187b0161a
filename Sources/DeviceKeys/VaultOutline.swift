package import VaultFormat
import VaultStorage

/// What a vault shows without a key.
package struct VaultOutline: Sendable {
  package let vault: VaultID
  package let protector: ProtectorKind
  package let deviceKey: DeviceKeyID
  /// Those that it had before, the newest 64.
  package let replacedKeys: [DeviceKeyID]
  package let created: Instant
  package let hasPasscode: Bool
  package let hasRecoveryCode: Bool

  /// The outline of the vault at a path, for `status` and error messages.
  package init(at path: String) throws(VaultError) {
    let row: HeaderRow
    do throws(StorageError) {
      var store = try Store.open(at: path, access: .readOnly)
      row = try store.header()
    } catch { throw VaultError(error, at: path) }
    self.init(try Header(decoding: row.body))
  }

  package init(_ header: Header) {
    (vault, protector, deviceKey, created) = (
      header.vault, header.protector, header.deviceKey, header.created
    )
    replacedKeys = header.replacedKeys
    (hasPasscode, hasRecoveryCode) = (header.hasPasscode, header.recoveryHalf != nil)
  }
}
