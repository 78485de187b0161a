import Glibc

/// How many commits the vault has had, remembered in a file beside the device key or in its place.
///
/// It is written after each commit and not synchronised, so it never runs ahead of the file, not even after a power
/// cut; a file that is behind it is an old copy. Best effort: an error is as good as none.
struct KeyWitness {
  let path: String
  let key: DeviceKeyID

  /// Writes the key's id and the number, 24 bytes.
  func note(_ sequence: UInt64) {
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0o600)
    guard file >= 0 else { return }
    defer { close(file) }
    let bytes = key.bytes + Int64(bitPattern: sequence).attributeBytes
    _ = unsafe bytes.withUnsafeBytes { unsafe pwrite(file, $0.baseAddress, $0.count, 0) }
  }

  /// Reads it; `nil` where there is none, or one of another key.
  var seen: UInt64? {
    let file = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 24)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe pread(file, $0.baseAddress, $0.count, 0) }
    guard count == 24, Array(bytes[..<16]) == key.bytes else { return nil }
    return bytes.bigEndian(at: 16)
  }

  func remove() { unsafe unlink(path) }
}
