import VaultFormat
import VaultLogging

extension VaultCore {
  /// Whether keys that the passcode opened are in memory. Waits for no transaction and reads no file, unlike ``isUnlocked``, so it
  /// does not know what another process did to the passcode. False without a passcode.
  package var hasOpenKeys: Bool { session.latch.isOpen }

  /// Wipes the keys that the passcode opened: at once, whatever other threads do, or at the end of the transaction that the calling
  /// thread holds. Ends the prompts that are open.
  ///
  /// It waits for no transaction. Work of another thread that has used these keys ends with ``VaultError/Code/locked``, at its next use
  /// or before its commit, and changes nothing. A key that such work uses at this very moment is wiped when this use has ended: when one
  /// secret is opened or sealed, or some hundred entries of the log are checked.
  package func lock() {
    session.lockTimer.cancel()
    if !session.lockAtEnd() { session.latch.lock() }
    prompts.end()
    VaultLog.info(.vaultAccess, "locked")
  }

  /// Locks when this time has passed by the boot clock; `nil` forgets the time that was set before.
  package func lock(after time: Duration?) {
    guard let time else { return session.lockTimer.cancel() }
    // A thousand years are as good as any longer time.
    let milliseconds = max(.zero, min(time, .seconds(31_536_000_000))) / .milliseconds(1)
    session.lockTimer.set(after: UInt64(milliseconds.rounded(.up)), self)
  }
}
