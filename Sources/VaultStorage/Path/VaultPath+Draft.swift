import CLinux
import Glibc

extension VaultPath {
  /// Those of the names of an unfinished vault that lead to something else. Such a file is the user's, and stays.
  ///
  /// - Parameter note: What the process noted in its lock that left the names.
  /// - Throws: If one of them cannot be looked at.
  func foreignDrafts(
    of temporaryName: String, noted note: FileLock.Note?
  ) throws(StorageError) -> [String] {
    var foreign: [String] = []
    for suffix in [""] + SideFileName.companions {
      let name = temporaryName + suffix
      if try !isFreeOrDraft(name, suffix: suffix, noted: note) { foreign.append(name) }
    }
    return foreign
  }

  /// Whether a file is the user's that has a name which an unfinished or removed vault leaves: that of a draft, of the lock, or of what
  /// SQLite keeps beside the vault.
  ///
  /// - Throws: If it cannot be looked at.
  func isForeign(_ name: String) throws(StorageError) -> Bool {
    let lock = try FileLock.read(in: self)
    if name == FileLock.name(in: self) { return lock.isForeign }
    let temporary = NewVaultPlace.temporaryName(of: self)
    for suffix in [""] + SideFileName.companions {
      if name == temporary + suffix { return try !isFreeOrDraft(name, suffix: suffix, noted: lock.note) }
      if !suffix.isEmpty, name == self.name + suffix { return try !isFreeOrCompanion(name, suffix: suffix) }
    }
    return true
  }

  /// Whether there is nothing, or what a process left that was killed while it made a vault: an empty file, the file that it noted, or what
  /// SQLite keeps beside that one.
  private func isFreeOrDraft(
    _ name: String, suffix: String, noted note: FileLock.Note?
  ) throws(StorageError) -> Bool {
    guard let found = try status(of: name) else { return true }
    guard found.isOwnAlone else { return false }
    if found.byteCount == 0 { return true }
    guard let note else { return false }
    if suffix.isEmpty { return try identity(of: name) == note.file }
    return try isFreeOrCompanion(name, suffix: suffix)
  }

  /// Whether there is nothing, or a file of this user alone with the content of one that SQLite keeps with that ending.
  private func isFreeOrCompanion(_ name: String, suffix: String) throws(StorageError) -> Bool {
    guard let found = try status(of: name) else { return true }
    guard found.isOwnAlone else { return false }
    return try hasContent(of: suffix, name)
  }

  /// Whether a file begins as SQLite begins one with that ending, or is gone. SQLite can write the beginning last, over zeros, and a
  /// process can have been killed before the whole of it was there.
  func hasContent(of suffix: String, _ name: String) throws(StorageError) -> Bool {
    guard let start = try firstBytes(of: name) else { return true }
    return Self.beginnings(of: suffix).contains { beginning in
      zip(start, beginning).allSatisfy { $0 == 0 || $0 == $1 }
    }
  }

  private static func beginnings(of suffix: String) -> [[UInt8]] {
    switch suffix {
    case "-wal": [[0x37, 0x7F, 0x06, 0x82], [0x37, 0x7F, 0x06, 0x83]]
    case "-shm": [[0x18, 0xE2, 0x2D, 0]]
    default: [[0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]]
    }
  }

  /// As many bytes as the longest beginning has; fewer from a shorter file.
  ///
  /// - Returns: nil if there is no such file any more.
  private func firstBytes(of name: String) throws(StorageError) -> [UInt8]? {
    let file = unsafe clinux_create(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0)
    guard file >= 0 else {
      guard errno == ENOENT else { throw .cannotOpen(errno: errno) }
      return nil
    }
    defer { OpenVaultFiles.close(file) }
    var bytes = [UInt8](repeating: 0, count: 8)
    let count = unsafe pread(file, &bytes, bytes.count, 0)
    guard count >= 0 else { throw .io(code: 0, errno: errno) }
    return Array(bytes.prefix(count))
  }
}

extension FileStatus {
  /// Whether it is a file of this user alone with one name.
  fileprivate var isOwnAlone: Bool {
    isRegularFile && owner == geteuid() && linkCount == 1 && permissions == 0o600
  }
}
