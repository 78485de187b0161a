import Glibc

/// Where writers wait for each other before they ask SQLite: a `flock` on the vault's folder.
///
/// A courtesy, not a guard: SQLite's own lock decides, and who has waited a second here goes on without. But a wait
/// inside SQLite takes and drops five locks at each try, and those keep the log from being recycled: with fifty
/// writers it grew by 10 MB a second. Only a folder that is closed to others serves, or they could make us wait.
struct CommitQueue: ~Copyable {
  /// Negative when the folder does not serve.
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
