import VaultFormat

/// Try, locked, unlock, try again.
///
/// - An operation is tried on the vault as it is. Many need no unlocked vault, and nobody is asked for them.
/// - Only ``VaultError/Code/locked`` leads to unlocking; every other error is the operation's own.
/// - A call that fails because the vault is locked has changed nothing, so the operation may run twice. It never runs a
///   third time.
/// - Whoever calls says how to unlock: a context asks a person, the tool tries the passcode that it was given.
package func unlockingIfNeeded<R: ~Copyable, E: Error>(
  _ operation: () throws(E) -> R, unlock: (_ locked: E) throws(E) -> Void
) throws(E) -> R {
  do throws(E) { return try operation() } catch {
    guard let locked = error as? VaultError, locked.code == .locked else { throw error }
    try unlock(error)
  }
  return try operation()
}
