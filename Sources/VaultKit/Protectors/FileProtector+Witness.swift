import Glibc

/// A witness beside the key file: how many commits the vault has had. It is written after each commit and not
/// synchronised, so it never runs ahead of the file, not even after a power cut; a file that is behind it is an old copy.
extension FileProtector {
  /// Writes the key's id and the number, 24 bytes, beside the key file.
  public func noteSequence(_ sequence: UInt64, under key: DeviceKeyID, of vault: VaultID) {
    let file = unsafe open(
      witnessPath(key, vault), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0o600)
    guard file >= 0 else { return }
    defer { close(file) }
    let bytes = key.bytes + Int64(bitPattern: sequence).attributeBytes
    _ = unsafe bytes.withUnsafeBytes { unsafe pwrite(file, $0.baseAddress, $0.count, 0) }
  }

  /// Reads it; `nil` where there is none, or one of another key.
  public func seenSequence(under key: DeviceKeyID, of vault: VaultID) -> UInt64? {
    let file = unsafe open(witnessPath(key, vault), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 24)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe pread(file, $0.baseAddress, $0.count, 0) }
    guard count == 24, Array(bytes[..<16]) == key.bytes else { return nil }
    return bytes.bigEndian(at: 16)
  }

  func witnessPath(_ key: DeviceKeyID, _ vault: VaultID) -> String { path(of: key, vault) + ".seen" }
}
