import CLinux
import Glibc

extension VaultPath {
  /// Those of the names of an unfinished vault that lead to something else. Such a file is the user's, and stays.
  ///
  /// - Parameter hasLock: Whether there was a lock of the vault before this process took it. A process that makes a vault removes its
  ///   lock last, so that one that was killed leaves both.
  /// - Throws: If one of them cannot be looked at.
  func foreignDrafts(of temporaryName: String, hasLock: Bool) throws(StorageError) -> [String] {
    var foreign: [String] = []
    for suffix in [""] + SideFileName.companions {
      let name = temporaryName + suffix
      if try !isFreeOrDraft(name, suffix: suffix, hasLock: hasLock) { foreign.append(name) }
    }
    return foreign
  }

  /// Whether a file is the user's that has a name which an unfinished or removed vault leaves: that of a draft, of the lock, or of what
  /// SQLite keeps beside the vault.
  ///
  /// - Throws: If it cannot be looked at.
  func isForeign(_ name: String) throws(StorageError) -> Bool {
    let lock = FileLock.name(in: self)
    if name == lock { return FileLock.isForeign(in: self) }
    let hasLock = try status(of: lock) != nil
    let temporary = NewVaultPlace.temporaryName(of: self)
    for suffix in [""] + SideFileName.companions {
      if name == temporary + suffix { return try !isFreeOrDraft(name, suffix: suffix, hasLock: hasLock) }
      if !suffix.isEmpty, name == self.name + suffix {
        return try !isFreeOrDraft(name, suffix: suffix, hasLock: true)
      }
    }
    return true
  }

  /// Whether there is nothing, or what a process left that was killed while it made a vault: a file of this user alone with one name,
  /// which is empty, or was left with its lock and begins as SQLite begins such a file.
  private func isFreeOrDraft(
    _ name: String, suffix: String, hasLock: Bool
  ) throws(StorageError) -> Bool {
    guard let found = try status(of: name) else { return true }
    guard found.isRegularFile, found.owner == geteuid(), found.linkCount == 1, found.permissions == 0o600
    else { return false }
    if found.byteCount == 0 { return true }
    guard hasLock, let start = firstBytes(of: name) else { return false }
    if suffix.isEmpty { return Self.isUnfinishedVault(start, byteCount: found.byteCount) }
    // A process can have been killed before the whole beginning was there.
    return Self.beginnings(of: suffix).contains { start.starts(with: $0) || $0.starts(with: start) }
  }

  /// Until the first checkpoint, the file has one page, without the number of the application.
  private static func isUnfinishedVault(_ start: [UInt8], byteCount: Int64) -> Bool {
    guard start.starts(with: Array("SQLite format 3\0".utf8)), start.count == firstByteCount else {
      return false
    }
    let application = start[68..<72].reduce(Int32(0)) { $0 << 8 | Int32($1) }
    return application == Schema.applicationID || application == 0 && byteCount <= Schema.pageSize
  }

  /// How SQLite begins a file beside a database. It writes the beginning of an index or a journal last, over zeros.
  private static func beginnings(of suffix: String) -> [[UInt8]] {
    switch suffix {
    case "-wal": [[0x37, 0x7F, 0x06, 0x82], [0x37, 0x7F, 0x06, 0x83]]
    case "-shm": [[0x18, 0xE2, 0x2D, 0], [0, 0, 0, 0]]
    default: [[0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7], [0, 0, 0, 0, 0, 0, 0, 0]]
    }
  }

  private func firstBytes(of name: String) -> [UInt8]? {
    let file = unsafe clinux_create(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0)
    guard file >= 0 else { return nil }
    defer { OpenVaultFiles.close(file) }
    var bytes = [UInt8](repeating: 0, count: Self.firstByteCount)
    let count = unsafe pread(file, &bytes, bytes.count, 0)
    return count < 0 ? nil : Array(bytes.prefix(count))
  }

  /// Up to the end of the number of the application.
  private static var firstByteCount: Int { 72 }
}
