import Glibc
import Synchronization

/// How many commits the vault has had, remembered in a file beside the device key or in its place.
///
/// It is written after each commit and not synchronised, so it never runs ahead of the file, not even after a power
/// cut; a file that is behind it is an old copy. Best effort: an error is as good as none.
struct KeyWitness {
  let path: String
  let key: DeviceKeyID

  /// Writes the key's id and the number, 24 bytes, to the file that ``open()`` opened.
  static func note(_ sequence: UInt64, under key: DeviceKeyID, in file: Int32) {
    let words = (key.high.bigEndian, key.low.bigEndian, sequence.bigEndian)
    _ = unsafe withUnsafeBytes(of: words) { unsafe pwrite(file, $0.baseAddress, $0.count, 0) }
  }

  /// The file for writing, made if it is not there; negative where that fails.
  func open() -> Int32 {
    unsafe Glibc.open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0o600)
  }

  /// Reads it; `nil` where there is none, or one of another key.
  var seen: UInt64? {
    let file = unsafe Glibc.open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 24)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe pread(file, $0.baseAddress, $0.count, 0) }
    guard count == 24, Array(bytes[..<16]) == key.bytes else { return nil }
    return bytes.bigEndian(at: 16)
  }

  func remove() { unsafe unlink(path) }
}

/// The witness's file, kept open from one commit of this process to the next as long as it has its name.
final class WitnessFile: Sendable {
  private struct Opened {
    let key: DeviceKeyID
    let vault: VaultID
    let file: Int32

    /// Its name may have been removed, or given to another file, by another process.
    var isNamed: Bool {
      var about = stat()
      return unsafe fstat(file, &about) == 0 && about.st_nlink > 0
    }
  }
  private let last = Mutex<Opened?>(nil)

  deinit { last.withLock { if let last = $0 { close(last.file) } } }

  /// Writes the number to the file of `witness`, which is asked for only where the last one was another.
  func note(
    _ sequence: UInt64, under key: DeviceKeyID, of vault: VaultID, in witness: () -> KeyWitness?
  ) {
    last.withLock { last in
      if let known = last, known.key != key || known.vault != vault || !known.isNamed {
        close(known.file)
        last = nil
      }
      if last == nil, let file = witness()?.open(), file >= 0 {
        last = Opened(key: key, vault: vault, file: file)
      }
      if let last { KeyWitness.note(sequence, under: key, in: last.file) }
    }
  }
}
