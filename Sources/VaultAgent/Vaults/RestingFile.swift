import Glibc

/// The file of an open vault between two requests, when its log is empty: whether something other than SQLite wrote to it.
///
/// `cp backup default.vault` keeps the file and changes its bytes. A process that has it open would mix its pages with the new
/// ones, and damage the vault. Another process that commits writes to the log first, which therefore changes with the file.
struct RestingFile: Equatable {
  private struct State: Equatable {
    let inode: UInt64
    let byteCount: Int64
    let seconds: Int64
    let nanoseconds: Int64

    init?(of path: String) {
      var about = stat()
      guard unsafe stat(path, &about) == 0 else { return nil }
      (inode, byteCount) = (UInt64(about.st_ino), Int64(about.st_size))
      (seconds, nanoseconds) = (Int64(about.st_mtim.tv_sec), Int64(about.st_mtim.tv_nsec))
    }
  }

  private let file: State
  private let log: State

  /// Looks at both files; nil if one is absent, or if the log has something.
  init?(of path: String) {
    guard let file = State(of: path), let log = State(of: path + "-wal"), log.byteCount == 0 else {
      return nil
    }
    (self.file, self.log) = (file, log)
  }

  /// Whether the file is another one than when this was made, and its log is not.
  func isWrittenOver(at path: String) -> Bool {
    guard State(of: path + "-wal") == log, let now = State(of: path) else { return false }
    return now != file
  }
}
