import CLinux
import Synchronization

/// Whether this process may open databases. SQLite keeps a table of the locks of its process. A child made by
/// `fork` inherits the table but none of the locks. Where its parent had a file open, the child would read and
/// write it without protection.
enum ForkGuard {
  private static let open = Atomic<Int>(0)
  private static let forksBefore = Atomic<UInt32>(0)

  /// - Throws: ``StorageError/usedAfterFork`` in a child whose parent had a connection open. Only `exec` helps.
  static func check() throws(StorageError) {
    let forks = clinux_fork_count()
    if open.load(ordering: .acquiring) == 0 {
      forksBefore.store(forks, ordering: .releasing)
    } else if forksBefore.load(ordering: .acquiring) != forks {
      throw .usedAfterFork
    }
  }

  static func opened() { open.add(1, ordering: .acquiringAndReleasing) }

  /// A child does not call this for inherited connections, so they stay counted there.
  static func closed() { open.subtract(1, ordering: .acquiringAndReleasing) }
}
