import DeviceKeys
import SealedStorage
import VaultFormat
import VaultKeys
import SecretMemory
import Synchronization
import VaultCrypto
import VaultStorage

/// The vault as a synchronous object: one connection, one set of keys, one lock around both.
///
/// ``Vault`` is the actor over it; `vaultctl` calls it directly. Blocking calls of protectors, key derivations and
/// prompts run outside of its lock and outside of every transaction.
package final class VaultCore: Sendable {
  package let environment: VaultEnvironment
  private let protector: Mutex<any Protector>
  /// `nil` only while a transaction has the session.
  let state: Mutex<Session?>

  init(_ session: consuming Session, protector: any Protector) {
    environment = session.environment
    self.protector = Mutex(protector)
    state = Mutex(consume session)
  }

  /// Lends one state of the vault to a closure.
  ///
  /// - Throws: What `body` throws, or ``VaultError``.
  package func read<R>(_ body: (inout ReadTransaction) throws -> R) throws -> R {
    try refreshingKeys { session in
      try stored { () throws(StorageError) in try session.store.beginRead() }
      try session.refreshForReading()
      var transaction = ReadTransaction(session)
      let outcome = Result { try body(&transaction) }
      session = transaction.session
      session.store.rollback()
      return outcome
    }
  }

  /// Lends the vault to a closure that changes it; what it did is durable when this returns.
  ///
  /// - Throws: What `body` throws, with nothing changed, or ``VaultError``.
  package func write<R>(_ body: (inout WriteTransaction) throws -> R) throws -> R {
    try refreshingKeys { session in
      try stored { () throws(StorageError) in try session.store.beginImmediate() }
      let head = try session.headForWriting()
      var transaction = WriteTransaction(session, head: head)
      let outcome = Result {
        try transaction.adoptFile()
        return try body(&transaction)
      }
      let changes = transaction.changes
      let sequence = transaction.head!.sequence + 1
      let isCommitted = Result {
        if case .success = outcome { try transaction.sealHead() }
      }
      session = transaction.session
      guard case .success = outcome, case .success = isCommitted, changes.isDirty else {
        session.store.rollback()
        try isCommitted.get()
        return outcome
      }
      try stored { () throws(StorageError) in try session.store.commit() }
      session.seenSequence = max(session.seenSequence, sequence)
      currentProtector.noteSequence(sequence, under: session.keys.header.deviceKey, of: session.vault)
      if changes.needsCleaning { session.clean() }
      return outcome
    }
  }

  /// Runs a transaction; when the keys turn out to be of another `config` it is begun anew with new ones.
  private func refreshingKeys<R>(_ body: (inout Session) throws -> Result<R, any Error>) throws -> R {
    var race = KeyRace()
    while race.mayTry() {
      var outcome: Result<R, any Error>?
      var needsDeviceKey: DeviceKeyID?
      state.withLock { slot in
        var session = slot.take()!
        do { outcome = try body(&session) } catch let error as KeysAreStale {
          session.store.rollback()
          needsDeviceKey = error.deviceKey
        } catch {
          session.store.rollback()
          outcome = .failure(error)
        }
        slot = consume session
      }
      if let outcome { return try outcome.get() }
      if needsDeviceKey != nil { try reload() }
    }
    throw KeyRace.lost
  }

  /// Reads header and slots anew with the device key.
  private func reload() throws(VaultError) {
    var race = KeyRace()
    while race.mayTry() {
      let header = try storedHeader()
      guard let key = try presentKey(header) else { continue }
      let isCurrent = withSession { session -> Result<Bool, VaultError> in
        Result { () throws(VaultError) in try session.reload(with: key) }
      }
      if try isCurrent.get() { return }
    }
    throw KeyRace.lost
  }

  /// The key that the header names; `nil` where another process has put a new one in its place meanwhile.
  private func presentKey(_ header: Header) throws(VaultError) -> DeviceKey? {
    do throws(VaultError) {
      return try DeviceKeys(keeper(of: header), of: header.vault).load(header.deviceKey)
    } catch {
      guard try storedHeader().deviceKey == header.deviceKey else { return nil }
      throw error
    }
  }

  private func storedHeader() throws(VaultError) -> Header {
    let header = withSession { session -> Result<Header, VaultError> in
      Result { () throws(VaultError) in try session.storedHeader().header }
    }
    return try header.get()
  }

  /// Who keeps the device key now.
  var currentProtector: any Protector { protector.withLock { $0 } }
  func setProtector(_ new: any Protector) { protector.withLock { $0 = new } }

  /// Another process may have moved the device key to another kind of protector.
  private func keeper(of header: Header) throws(VaultError) -> any Protector {
    let present = currentProtector
    if present.kind == header.protector { return present }
    let other = try environment.protector(header.protector)
    setProtector(other)
    return other
  }

  /// ``withSession(_:)`` for a step that can fail.
  func withSessionThrowing(_ body: (inout Session) throws(VaultError) -> Void) throws(VaultError) {
    let outcome = withSession { session -> Result<Void, VaultError> in
      Result { () throws(VaultError) in try body(&session) }
    }
    try outcome.get()
  }

  /// Lends the session outside of a transaction.
  func withSession<R: Sendable>(_ body: (inout Session) -> R) -> R {
    var result: R?
    state.withLock { slot in
      var session = slot.take()!
      result = body(&session)
      slot = consume session
    }
    return result!
  }
}
