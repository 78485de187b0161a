import Glibc
import SecretMemory
import Synchronization
import VaultFormat

/// The device keys that came by descriptors of this process. A pipe gives its bytes once, and a key is read at each opening.
enum DescriptorKeys {
  private static let known = Mutex<[Int32: SharedSecret]>([:])

  static func key(_ number: Int32, path: String) throws(VaultError) -> DeviceKey {
    // Two threads that read one pipe would each get a part.
    let bytes = try known.withLock { known throws(VaultError) in
      if let bytes = known[number] { return bytes }
      let bytes = SharedSecret(try read(number, path: path))
      known[number] = bytes
      return bytes
    }
    return try DeviceKey(bytes.bytes.copy(), in: path)
  }

  private static func read(_ number: Int32, path: String) throws(VaultError) -> SecretBytes {
    do throws(SecretInput.Fault) { return try SecretInput.all(of: number, limit: 64) } catch {
      switch error {
      case .tooLong:
        throw VaultError(.deviceKeyDamaged, "\(path) gives more than a device key, which has 32 bytes")
      case .notOpen:
        throw VaultError(
          .deviceKeyUnavailable, "descriptor \(number) for the device key is not open for reading",
          hint: "open it in the shell, like \(number)<FILE")
      case .failed(let code):
        throw VaultError(
          .deviceKeyUnavailable,
          unsafe "the device key cannot be read: \(path): \(String(cString: strerror(code)))",
          underlying: code)
      }
    }
  }
}
