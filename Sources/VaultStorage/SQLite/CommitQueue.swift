import Glibc

/// The queue in which writers wait for each other before they ask SQLite: a `flock` on the directory of the vault.
///
/// The queue is a courtesy, not a guard. The lock of SQLite decides, and a writer that has waited here for a second
/// continues without its turn. The queue is needed because a wait inside SQLite takes and releases five locks at
/// each try, and these keep the log from being reused: with fifty writers, the log grew by 10 MB a second. The
/// queue is used only in a directory that no other user can open, because another user could make the writers wait.
struct CommitQueue: ~Copyable {
  /// Negative when the directory cannot be used.
  private let folder: Int32
  /// In nanoseconds.
  private let patience: Int64

  static func none() -> CommitQueue { CommitQueue(folder: -1, patience: 0) }

  init(in place: borrowing VaultPath, patience: Int64) {
    let about = try? place.status(of: ".")
    guard let about, about.owner == geteuid(), about.permissions & 0o077 == 0 else {
      self.init(folder: -1, patience: 0)
      return
    }
    self.init(
      folder: unsafe open(place.folderPath, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
      patience: min(patience, Self.mostPatience))
  }

  private init(folder: Int32, patience: Int64) {
    self.folder = folder
    self.patience = patience
  }

  deinit {
    if folder >= 0 { close(folder) }
  }

  func enter() {
    guard folder >= 0 else { return }
    let start = Pause.now()
    var attempts: Int32 = 0
    while flock(folder, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK || errno == EINTR {
      guard Pause.take(since: start, attempts: attempts, patience: patience) else { return }
      attempts += 1
    }
  }

  func leave() {
    if folder >= 0 { flock(folder, LOCK_UN) }
  }

  private static let mostPatience: Int64 = 1_000_000_000
}
