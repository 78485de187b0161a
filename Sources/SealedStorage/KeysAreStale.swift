package import VaultFormat

/// Thrown inside a transaction when another process has changed the keys. If it has a device key id, the caller must
/// load that key first.
package struct KeysAreStale: Error {
  package var deviceKey: DeviceKeyID?
}
