package import VaultFormat
import Glibc

/// Held from the storing of a new device key until the vault names it. Meanwhile, no process removes keys that no vault
/// names.
///
/// The lock of a ``FileProtector`` is a `flock` on the directory of the keys. It leaves nothing behind; the kernel
/// releases it when the process ends.
public final class ProtectorLock: Sendable {
  private let release: @Sendable () -> Void

  /// The lock of another protector.
  ///
  /// - Parameter release: Called once, when the lock is no longer needed. If the process ends before, the lock must not
  ///   remain.
  public init(releasing release: @escaping @Sendable () -> Void) { self.release = release }

  /// Waits for at most ten seconds.
  ///
  /// - Throws: ``VaultError/Code/busy``, ``VaultError/Code/io``.
  package init(folder: String) throws(VaultError) {
    let file = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard file >= 0 else { throw FileProtector.failure("open", path: folder) }
    for _ in 0..<500 {
      if flock(file, LOCK_EX | LOCK_NB) == 0 {
        release = { close(file) }
        return
      }
      guard errno == EWOULDBLOCK || errno == EINTR else {
        let problem = errno
        close(file)
        errno = problem
        throw FileProtector.failure("lock", path: folder)
      }
      usleep(20_000)
    }
    close(file)
    throw VaultError(.busy, "another program is changing the device keys of this vault", hint: "try again")
  }

  /// Does not wait; `nil` when the lock is held, in another process or in this one.
  package init?(atOnce folder: String) {
    let file = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
      close(file)
      return nil
    }
    release = { close(file) }
  }

  /// Does nothing. Call this at the end of the locked work, so that the lock is not released earlier.
  package func keep() {}

  deinit { release() }
}
