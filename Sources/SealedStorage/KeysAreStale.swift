package import VaultFormat

/// Thrown inside a transaction when another process has changed the keys. With a device key it needs that key first.
package struct KeysAreStale: Error {
  package var deviceKey: DeviceKeyID?
}
