package import VaultFormat
import Glibc
import Synchronization

/// How many commits the vault has had, remembered in a file beside the device key or in its place.
///
/// It is written after each commit and not synchronized, so it is never ahead of the vault file, not even after a power
/// cut. A vault file that is behind it is an old copy. Best effort: an error has the same effect as no witness.
package struct KeyWitness {
  package let path: String
  package let key: DeviceKeyID

  /// Writes the key's id and the number, 24 bytes, to the file that ``open()`` opened. A greater number of the same key stays, if
  /// a vault can have it: a process may tell its commit later than another one tells the next.
  package static func note(_ sequence: UInt64, under key: DeviceKeyID, in file: Int32) {
    if let seen = seen(under: key, in: file), seen >= sequence, seen < Head.greatest { return }
    let words = (key.high.bigEndian, key.low.bigEndian, sequence.bigEndian)
    _ = unsafe withUnsafeBytes(of: words) { unsafe pwrite(file, $0.baseAddress, $0.count, 0) }
  }

  /// Opens the file for reading and writing, and makes it if it does not exist; negative on failure. Never 0, 1 or 2, because a
  /// process that has closed those may still print to them.
  package func open() -> Int32 {
    let file = unsafe Glibc.open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0o600)
    guard (0...2).contains(file) else { return file }
    defer { close(file) }
    return fcntl(file, F_DUPFD_CLOEXEC, 3)
  }

  /// Reads the witness; `nil` if there is none, or if it is for another key.
  package var seen: UInt64? {
    let file = unsafe Glibc.open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return nil }
    defer { close(file) }
    return Self.seen(under: key, in: file)
  }

  /// The same of an open file.
  static func seen(under key: DeviceKeyID, in file: Int32) -> UInt64? {
    var words: (UInt64, UInt64, UInt64) = (0, 0, 0)
    let count = unsafe withUnsafeMutableBytes(of: &words) { unsafe pread(file, $0.baseAddress, $0.count, 0) }
    guard count == 24, words.0.bigEndian == key.high, words.1.bigEndian == key.low else { return nil }
    return words.2.bigEndian
  }

  package func remove() { unsafe unlink(path) }
}
