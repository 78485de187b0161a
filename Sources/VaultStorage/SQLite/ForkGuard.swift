import CLinux
import Synchronization

/// Whether this process may open databases. SQLite keeps a table of the locks of its process; a child made by `fork`
/// inherits the table but none of the locks, and would read and write unprotected where its parent had a file open.
enum ForkGuard {
  private static let open = Atomic<Int>(0)
  private static let forksBefore = Atomic<UInt32>(0)

  /// - Throws: ``StorageError/usedAfterFork`` in a child of a process that had a connection open; only `exec` helps.
  static func check() throws(StorageError) {
    let forks = clinux_fork_count()
    if open.load(ordering: .acquiring) == 0 {
      forksBefore.store(forks, ordering: .releasing)
    } else if forksBefore.load(ordering: .acquiring) != forks {
      throw .usedAfterFork
    }
  }

  static func opened() { open.add(1, ordering: .acquiringAndReleasing) }

  /// Not called in a child for what it inherited, which therefore stays counted there.
  static func closed() { open.subtract(1, ordering: .acquiringAndReleasing) }
}
