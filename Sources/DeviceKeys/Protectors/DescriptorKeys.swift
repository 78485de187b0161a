import SecretMemory
import Synchronization
import VaultFormat

/// The device keys that came by descriptors of this process. A pipe gives its bytes once, and a key is read at each opening.
enum DescriptorKeys {
  private static let known = Mutex<[Int32: SharedSecret]>([:])

  static func key(_ number: Int32, path: String) throws(VaultError) -> DeviceKey {
    if let bytes = known.withLock({ $0[number] }) { return try DeviceKey(bytes.bytes.copy()) }
    let bytes: SharedSecret
    do throws(SecretInput.Fault) { bytes = SharedSecret(try SecretInput.all(of: number, limit: 64)) } catch {
      switch error {
      case .tooLong:
        throw VaultError(.deviceKeyDamaged, "\(path) gives more than a device key, which has 32 bytes")
      case .notOpen:
        throw VaultError(
          .deviceKeyUnavailable, "descriptor \(number) for the device key is not open for reading",
          hint: "open it in the shell, like \(number)<FILE")
      case .failed(let code):
        throw VaultError(.deviceKeyUnavailable, "the device key cannot be read: \(path)", underlying: code)
      }
    }
    known.withLock { $0[number] = bytes }
    return try DeviceKey(bytes.bytes.copy())
  }
}
