import SealedStorage
package import VaultFormat
import VaultKeys
import VaultStorage

/// Transactions. One thread at a time holds one; the others wait for its end. A thread that holds one cannot begin another.
///
/// ```swift
/// var transaction = try beginWriting()
/// try transaction.log(notes)
/// try transaction.commit()
/// ```
extension VaultCore {
  /// Begins to read. The value shows one state of the vault until it ends: at the end of its scope, or by
  /// ``ReadTransaction/end()``.
  package func beginReading() throws(VaultError) -> ReadTransaction {
    try underPresentKeys {
      var lease = StoreLease(of: self)
      try lease.store.rows.beginRead()
      lease.store.caller = environment.caller
      try lease.store.refreshForReading()
      return ReadTransaction(lease)
    }
  }

  /// Begins to change the vault. The changes become durable with ``WriteTransaction/commit()``; if the value ends without it, nothing
  /// is changed.
  ///
  /// - Parameter repairing: Whether rows that no vault can have are removed first: they may be in the way of everything else.
  package func beginWriting(repairing: Bool = false) throws(VaultError) -> WriteTransaction {
    try underPresentKeys {
      let seen = witnessed()
      var lease = StoreLease(of: self)
      try lease.store.rows.beginImmediate()
      lease.store.caller = environment.caller
      lease.store.witness = seen.commit
      let head = try lease.store.headForWriting()
      // The witness is that of a device key, which another process may have replaced.
      guard lease.store.keys.header.deviceKey == seen.key else { throw WitnessIsStale() }
      var transaction = WriteTransaction(lease, head: head)
      if repairing { try transaction.removeImpossible() }
      let isBehind = try transaction.adoptFile()
      try transaction.endItems(all: isBehind)
      return transaction
    }
  }

  private struct WitnessIsStale: Error {}

  /// Begins a transaction. If the file has another `config` than the keys, reads the keys again and begins once more. Later steps of a
  /// transaction cannot find such a difference.
  private func underPresentKeys<T: ~Copyable>(_ begin: () throws -> T) throws(VaultError) -> T {
    var race = KeyRace()
    while race.mayTry() {
      do {
        return try begin()
      } catch is KeysAreStale {
        try reload()
      } catch let error as VaultError {
        throw error
      } catch {
        precondition(error is WitnessIsStale, "VaultCore: an error of another type inside the library")
      }
    }
    throw KeyRace.lost
  }

  /// Header, slots and keys as the file has them now.
  func keysNow() throws(VaultError) -> (header: Header, slots: [SlotRow], keys: GenerationKeys) {
    let transaction = try beginReading()
    return (transaction.store.keys.header, transaction.store.keys.slots, transaction.store.keys.current)
  }

  // MARK: For closures

  /// Lends one state of the vault to a closure.
  ///
  /// - Throws: What `body` throws, or ``VaultError``.
  package func read<R>(_ body: (inout ReadTransaction) throws -> R) throws -> R {
    var transaction = try beginReading()
    return try body(&transaction)
  }

  /// Lends the vault to a closure that changes it. The changes are durable when this returns.
  ///
  /// - Throws: What `body` throws, with nothing changed, or ``VaultError``.
  package func write<R>(_ body: (inout WriteTransaction) throws -> R) throws -> R {
    var transaction = try beginWriting()
    let result = try body(&transaction)
    try transaction.commit()
    return result
  }

  /// ``read(_:)`` with a typed error, for closures of this package.
  package func reading<R>(_ body: (inout ReadTransaction) throws(VaultError) -> R) throws(VaultError) -> R {
    var transaction = try beginReading()
    return try body(&transaction)
  }

  /// ``write(_:)`` with a typed error, for closures of this package.
  ///
  /// - Parameter repairing: As of ``beginWriting(repairing:)``.
  package func writing<R>(
    repairing: Bool = false, _ body: (inout WriteTransaction) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    var transaction = try beginWriting(repairing: repairing)
    let result = try body(&transaction)
    try transaction.commit()
    return result
  }

  /// ``read(_:)`` with the error type of the closure, and with a result that may be a secret.
  ///
  /// - Parameter convert: Makes the closure's type of error from an error of the vault.
  func lendingState<R: ~Copyable, E: Error>(
    _ body: (inout ReadTransaction) throws(E) -> R, converting convert: (VaultError) -> E
  ) throws(E) -> R {
    var transaction: ReadTransaction
    do throws(VaultError) { transaction = try beginReading() } catch { throw convert(error) }
    return try body(&transaction)
  }

  /// ``write(_:)`` with the error type of the closure, and with a result that may be a secret.
  ///
  /// - Parameter convert: Makes the closure's type of error from an error of the vault.
  func lendingChanges<R: ~Copyable, E: Error>(
    _ body: (inout WriteTransaction) throws(E) -> R, converting convert: (VaultError) -> E
  ) throws(E) -> R {
    var transaction: WriteTransaction
    do throws(VaultError) { transaction = try beginWriting() } catch { throw convert(error) }
    let result = try body(&transaction)
    do throws(VaultError) { try transaction.commit() } catch { throw convert(error) }
    return result
  }
}
