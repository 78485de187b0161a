package import VaultFormat
import Glibc
import VaultStorage

/// The last commit of the vault, remembered in a file beside the device key or in its place.
///
/// It is written after each commit and not synchronized, so it is never ahead of the vault file, not even after a power
/// cut. A vault file that is behind it is an old copy. Best effort: an error has the same effect as no witness.
package struct KeyWitness {
  package let path: String
  package let key: DeviceKeyID

  /// Writes the commit to the file that ``open()`` opened. The number never goes back: a process may tell its commit later than
  /// another one tells the next. So the file is locked from before the comparison until after the write.
  ///
  /// - Parameters:
  ///   - mayReplace: Whether to write over the witness of another key, which is given.
  ///   - pause: Called while another process holds the lock, with the number of the try. Nothing is written once it returns false.
  package static func note(
    _ commit: SeenCommit, under key: DeviceKeyID, in file: Int32,
    over mayReplace: (DeviceKeyID) -> Bool = { _ in true }, pause: (Int) -> Bool = Self.pause
  ) {
    var tries = 0
    while flock(file, LOCK_EX | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK || errno == EINTR, pause(tries) else { return }
      tries += 1
    }
    defer { flock(file, LOCK_UN) }
    if let seen = WitnessBytes(in: file) {
      let replaces =
        seen.key == key ? SeenCommit.replaces(commit.sequence, seen.sequence) : mayReplace(seen.key)
      guard replaces else { return }
    }
    WitnessBytes(commit, under: key).write(to: file)
  }

  /// Ten seconds in all: as long as one writer of the vault waits for another.
  package static func pause(_ tries: Int) -> Bool {
    usleep(1_000)
    return tries < 10_000
  }

  /// Opens the file for reading and writing, and makes it if it does not exist; negative on failure. Never 0, 1 or 2, because a
  /// process that has closed those may still print to them.
  package func open() -> Int32 {
    let file = unsafe Glibc.open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0o600)
    return Self.aboveStandard(file)
  }

  /// Replaces a file that has a second name by one with the same bytes, so that nothing is written into what has the other name.
  ///
  /// - Returns: The new file, opened; negative where another process writes just then, or on failure: the commit is then not noted.
  package func copied(from file: Int32) -> Int32 {
    guard flock(file, LOCK_EX | LOCK_NB) == 0 else { return -1 }
    defer { flock(file, LOCK_UN) }
    let bytes = WitnessBytes(in: file)
    guard unsafe unlink(path) == 0 else { return -1 }
    let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    let new = Self.aboveStandard(unsafe Glibc.open(path, flags, 0o600))
    if new >= 0, let bytes { bytes.write(to: new) }
    return new
  }

  private static func aboveStandard(_ file: Int32) -> Int32 {
    guard (0...2).contains(file) else { return file }
    defer { close(file) }
    return fcntl(file, F_DUPFD_CLOEXEC, 3)
  }

  /// Reads the witness; `nil` if there is none, or if it is for another key.
  package var seen: SeenCommit? {
    let file = unsafe Glibc.open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return nil }
    defer { close(file) }
    return Self.seen(under: key, in: file)
  }

  /// The same of an open file. Takes no lock, so that reading never waits for a writer.
  static func seen(under key: DeviceKeyID, in file: Int32) -> SeenCommit? {
    guard let bytes = WitnessBytes(in: file), bytes.key == key else { return nil }
    return SeenCommit(sequence: bytes.sequence, entry: bytes.entry)
  }

  /// Whether anything has that name, whether it is a witness or not.
  package static func isThere(_ path: String) -> Bool {
    var entry = stat()
    return unsafe lstat(path, &entry) == 0
  }

  /// Whether this user may make the file, and the folders that lack above it.
  package static func canBeMade(_ path: String) -> Bool {
    var folder = path
    repeat {
      let slash = folder.lastIndex(of: "/")
      folder = slash.map { $0 == folder.startIndex ? "/" : String(folder[..<$0]) } ?? "."
    } while !isThere(folder) && folder != "/" && folder != "."
    return unsafe access(folder, W_OK | X_OK) == 0
  }

  package func remove() { unsafe unlink(path) }
}

/// The bytes of the file, as section 3 of docs/format/vault-file.md says. The first 24 are the whole file of earlier builds.
private struct WitnessBytes {
  /// Big-endian: key id, number of the commit, layout, number of the entry, its MAC, check.
  private var words: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) =
    (0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
  private let isWhole: Bool

  init(_ commit: SeenCommit, under key: DeviceKeyID) {
    isWhole = true
    (words.0, words.1, words.2) = (key.high.bigEndian, key.low.bigEndian, commit.sequence.bigEndian)
    words.3 = Self.layout.bigEndian
    if let entry = commit.entry {
      words.4 = entry.number.bigEndian
      func word(_ index: Int) -> UInt64 { (entry.mac.bigEndian(at: 8 * index) as UInt64).bigEndian }
      (words.5, words.6, words.7, words.8) = (word(0), word(1), word(2), word(3))
    }
    words.9 = check.bigEndian
  }

  /// `nil` if the file is too short.
  init?(in file: Int32) {
    let count = unsafe withUnsafeMutableBytes(of: &words) { unsafe pread(file, $0.baseAddress, $0.count, 0) }
    isWhole = count == MemoryLayout.size(ofValue: words)
    guard count >= 24 else { return nil }
  }

  func write(to file: Int32) {
    _ = unsafe withUnsafeBytes(of: words) { unsafe pwrite(file, $0.baseAddress, $0.count, 0) }
  }

  var key: DeviceKeyID { DeviceKeyID(Bytes16(high: words.0.bigEndian, low: words.1.bigEndian)) }

  var sequence: UInt64 { words.2.bigEndian }

  /// `nil` in an earlier layout, and where a process was writing the bytes just then.
  var entry: SeenCommit.Entry? {
    guard isWhole, words.3.bigEndian == Self.layout, words.9.bigEndian == check, words.4 != 0 else {
      return nil
    }
    let mac = unsafe withUnsafeBytes(of: (words.5, words.6, words.7, words.8)) { unsafe Array($0) }
    return SeenCommit.Entry(number: words.4.bigEndian, mac: mac)
  }

  /// FNV-1a over the bytes before it. It tells bytes of two writes from those of one, and protects nothing.
  private var check: UInt64 {
    unsafe withUnsafeBytes(of: words) { bytes in
      var hash: UInt64 = 0xcbf2_9ce4_8422_2325
      for index in 0..<72 { unsafe hash = (hash ^ UInt64(bytes[index])) &* 0x100_0000_01b3 }
      return hash
    }
  }

  /// Layout 2, as u16, and six bytes 0.
  private static let layout: UInt64 = 2 << 48
}
