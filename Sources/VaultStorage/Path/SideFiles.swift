import Glibc

/// The two files beside an open vault, `-wal` with the latest commits and `-shm` with the index of that log, as they were when the
/// vault was opened.
///
/// SQLite uses the open files, and another process finds them by name. When something else has removed or replaced one of them, the
/// two no longer see each other's commits, and each overwrites those of the other.
struct SideFiles: Sendable {
  private let log, index: Side

  /// `nil` if neither exists: the file keeps no log.
  ///
  /// - Throws: ``StorageError/sideFile(_:)`` if only one exists.
  init?(beside path: String) throws(StorageError) {
    let (log, index) = (Side(path + "-wal"), Side(path + "-shm"))
    guard let log else {
      if index == nil { return nil }
      throw .sideFile(path + "-wal")
    }
    guard let index else { throw .sideFile(path + "-shm") }
    (self.log, self.index) = (log, index)
  }

  /// The path of one that is no longer the open file.
  var wrong: String? { log.now != .same ? log.path : index.now != .same ? index.path : nil }

  /// Whether this process alone has the log: its name is gone, or leads to a file that nothing was written to, and no other index
  /// says where the commits are.
  var isLogLost: Bool {
    let (log, index) = (log.now, index.now)
    return (log == .gone || log == .empty) && (index == .same || index == .gone)
  }

  private struct Side: Sendable {
    let path: String
    private let device, inode: UInt64

    enum State { case same, gone, empty, other }

    init?(_ path: String) {
      guard let status = Self.status(path) else { return nil }
      (self.path, device, inode) = (path, status.device, status.inode)
    }

    var now: State {
      guard let status = Self.status(path) else { return .gone }
      if status.device == device, status.inode == inode { return .same }
      return status.isRegularFile && status.byteCount == 0 ? .empty : .other
    }

    private static func status(_ path: String) -> FileStatus? {
      var about = stat()
      return unsafe lstat(path, &about) == 0 ? FileStatus(about) : nil
    }
  }
}
