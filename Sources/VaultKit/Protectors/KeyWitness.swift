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

  /// The file for writing, made if it is not there; negative where that fails. Never 0, 1 or 2: a process that has
  /// closed those prints to them all the same.
  func open() -> Int32 {
    let file = unsafe Glibc.open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0o600)
    guard (0...2).contains(file) else { return file }
    defer { close(file) }
    return fcntl(file, F_DUPFD_CLOEXEC, 3)
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
    let witness: KeyWitness
    let vault: VaultID
    let file: Int32
    let identity: FileIdentity

    init?(_ witness: KeyWitness?, _ vault: VaultID) {
      guard let witness else { return nil }
      let file = witness.open()
      guard file >= 0 else { return nil }
      guard let identity = FileIdentity(file) else {
        close(file)
        return nil
      }
      self.witness = witness
      self.vault = vault
      self.file = file
      self.identity = identity
    }

    /// Somebody may have closed it, as a daemon closes what it has inherited; the number is another file's then.
    var isOpen: Bool { FileIdentity(file) == identity }

    /// Its name may have been removed, or given to another file, by another process.
    var isNamed: Bool { FileIdentity(at: witness.path) == identity }

    func end() { if isOpen { close(file) } }
  }
  private let last = Mutex<Opened?>(nil)

  deinit { last.withLock { $0?.end() } }

  /// Writes the number to the file of `witness`, which is asked for only where the last one was another.
  func note(
    _ sequence: UInt64, under key: DeviceKeyID, of vault: VaultID, in witness: () -> KeyWitness?
  ) {
    last.withLock { last in
      if let known = last,
        known.witness.key != key || known.vault != vault || !known.isOpen || !known.isNamed
      {
        known.end()
        last = nil
      }
      if last == nil { last = Opened(witness(), vault) }
      if let last { KeyWitness.note(sequence, under: key, in: last.file) }
    }
  }
}

/// Which file it is, whatever its names.
private struct FileIdentity: Equatable {
  private let device, inode: UInt

  init?(_ file: Int32) {
    var about = stat()
    guard unsafe fstat(file, &about) == 0 else { return nil }
    (device, inode) = (about.st_dev, about.st_ino)
  }

  /// The entry of that name itself, not what a link leads to.
  init?(at path: String) {
    var about = stat()
    guard unsafe lstat(path, &about) == 0 else { return nil }
    (device, inode) = (about.st_dev, about.st_ino)
  }
}
