import DeviceKeys
import Dispatch
import Glibc
import SealedStorage
import VaultFormat
import VaultKeys
import SecretMemory
import Synchronization
import VaultCrypto
import VaultLogging
import VaultStorage

/// The vault as a synchronous object: one connection and one set of keys, which one thread at a time has.
///
/// ``Vault`` is the actor around it; `vaultctl` calls it directly. Protectors, key derivations and prompts block, so
/// they run outside its lock and outside every transaction.
package final class VaultCore: Sendable {
  package let environment: VaultEnvironment
  let session: Session
  /// The call of the actor that this core is used in; `nil` outside of such calls.
  private let call: OpenCall?
  /// The bits of what was committed: see ``takeDone()``.
  private let done = Atomic<UInt64>(0)

  /// An open vault, shared by the cores of all its callers.
  final class Session: Sendable {
    let protector: Mutex<any Protector>
    /// `nil` while a thread has taken the store.
    private let store: Mutex<SealedStore?>
    /// Those who want the store wait here, until who has it gives it back.
    private let turn = DispatchSemaphore(value: 1)
    /// Locks the vault, also while a transaction has the store.
    let latch: VaultLatch
    /// The prompts of all calls that are open. Locking the vault ends them.
    let prompts = OpenPrompts()
    /// How many prompts its callers have open.
    let promptBound = PromptBound()
    /// Those who listen to what happens to the vault.
    let events = VaultEvents()
    /// Locks the vault at a time.
    let lockTimer = LockTimer()
    /// The thread that has taken the store; 0 if none has.
    private let owner = Atomic<pthread_t>(0)
    /// Whether this thread asked to lock the vault meanwhile.
    private let locksAtEnd = Atomic(false)
    /// Ends tokens at their time.
    let endTimer = EndTimer()
    /// Whether it was said that no commit can be remembered.
    let isToldOfWitness = Atomic(false)
    /// The newest commit that the protector was told of.
    private let noted = Mutex((key: DeviceKeyID?.none, sequence: UInt64(0)))

    init(_ store: consuming SealedStore, protector: any Protector) {
      self.protector = Mutex(protector)
      latch = store.latch
      latch.observe { [events] in events.send($0) }
      self.store = Mutex(consume store)
    }

    /// Takes the store, as soon as no other thread has it. ``giveBack(_:)`` must follow, on this thread.
    func take() -> SealedStore {
      precondition(
        owner.load(ordering: .relaxed) != pthread_self(),
        "VaultCore: this thread is in a transaction, which has to end before it begins another or looks at the vault"
      )
      turn.wait()
      owner.store(pthread_self(), ordering: .relaxed)
      return store.withLock { $0.take()! }
    }

    /// Gives the store back. If this thread asked meanwhile to lock the vault, locks it first.
    func giveBack(_ store: consuming SealedStore) {
      precondition(
        owner.load(ordering: .relaxed) == pthread_self(), "VaultCore: another thread ends a transaction")
      if locksAtEnd.exchange(false, ordering: .relaxed) { latch.lock() }
      owner.store(0, ordering: .relaxed)
      var store: SealedStore? = store
      self.store.withLock { $0 = store.take() }
      turn.signal()
    }

    /// Locks the vault at the end of the transaction that this thread holds; false if it holds none.
    func lockAtEnd() -> Bool {
      guard owner.load(ordering: .relaxed) == pthread_self() else { return false }
      locksAtEnd.store(true, ordering: .relaxed)
      return true
    }

    /// The newest commit that the protector was told of; nil if none.
    var lastNoted: (key: DeviceKeyID, sequence: UInt64)? {
      noted.withLock { last in last.key.map { ($0, last.sequence) } }
    }

    /// Tells the protector of a commit. Called when another thread can have the store, because a protector can hang; so
    /// another thread can be faster, and an older commit must not overwrite its number.
    func note(_ commit: SeenCommit, under key: DeviceKeyID, of vault: VaultID) {
      noted.withLock { last in
        guard last.key != key || SeenCommit.replaces(commit.sequence, last.sequence) else { return }
        protector.withLock { $0 }.noteCommit(commit, under: key, of: vault)
        last = (key, commit.sequence)
      }
    }

    /// The commit that the protector remembers now. Asked before a state of the file is read, which then has at least this one;
    /// and before this thread has the store, because a protector can hang.
    func seen(under key: DeviceKeyID, of vault: VaultID) -> SeenCommit? {
      protector.withLock { $0 }.seenCommit(under: key, of: vault)
    }
  }

  var prompts: OpenPrompts { session.prompts }

  init(_ store: consuming SealedStore, protector: any Protector) {
    environment = store.environment
    session = Session(store, protector: protector)
    call = nil
  }

  init(_ session: Session, environment: VaultEnvironment, call: OpenCall? = nil) {
    self.session = session
    self.environment = environment
    self.call = call
  }

  /// The same open vault for one call of the actor.
  func used(in call: OpenCall) -> VaultCore { VaultCore(session, environment: environment, call: call) }

  /// The same open vault, serving another process.
  package func asked(by caller: Caller) -> VaultCore {
    var environment = environment
    environment.caller = caller
    return VaultCore(session, environment: environment, call: call)
  }

  /// The same open vault, for one of several commands that share it.
  ///
  /// - Parameters:
  ///   - body: Called directly before each commit of this command, as ``VaultEnvironment/committing`` says.
  ///   - unlock: How this command unlocks the vault, as ``VaultEnvironment/unlocking`` says.
  package func committing(
    by body: @escaping @Sendable (_ isChange: Bool) throws(VaultError) -> Void,
    unlocking unlock: (@Sendable () -> Bool)? = nil
  ) -> VaultCore {
    var environment = environment
    environment.committing = body
    environment.unlocking = unlock
    return VaultCore(session, environment: environment, call: call)
  }

  /// Notes what a commit has done, for ``takeDone()``.
  func noteDone(_ operations: DoneOperations) { done.bitwiseOr(operations.bits, ordering: .relaxed) }

  /// What was committed through this object since it was asked last.
  package func takeDone() -> DoneOperations {
    DoneOperations(bits: done.exchange(0, ordering: .relaxed))
  }

  /// The commit that the protector remembers, under the device key of this session.
  func witnessed() -> (key: DeviceKeyID, commit: SeenCommit?) {
    let header = withStore { $0.keys.header }
    // A protector that cannot be had knows of none; the one of before says nothing about a key that it does not keep.
    _ = try? keeper(of: header)
    return (header.deviceKey, session.seen(under: header.deviceKey, of: header.vault))
  }

  /// Reads header and slots again with the device key. A protector can hang: it then holds neither the actor nor a
  /// caller that leaves.
  func reload() throws(VaultError) {
    let isUsing = call?.endUse() ?? false
    try readKeys()
    guard isUsing, call?.beginUse() == false else { return }
    throw VaultError(.appCancelled, "the call was cancelled")
  }

  private func readKeys() throws(VaultError) {
    var race = KeyRace()
    while race.mayTry() {
      let header = try storedHeader()
      guard let key = try presentKey(header) else { continue }
      var held = HeldStore(of: session)
      if try held.store.reload(with: key) { return }
    }
    throw KeyRace.lost
  }

  /// The key that the header names; `nil` if another process has replaced it in the meantime.
  private func presentKey(_ header: Header) throws(VaultError) -> DeviceKey? {
    do throws(VaultError) {
      return try DeviceKeys(keeper(of: header), of: header.vault).load(header.deviceKey)
    } catch {
      guard try storedHeader().deviceKey == header.deviceKey else { return nil }
      throw error
    }
  }

  /// Refuses a file that is not a vault of this world.
  static func refuseForeign(_ header: Header, environment: VaultEnvironment) throws(VaultError) {
    try environment.refuseVaultOfTest(header)
    if header.isBackup {
      throw VaultError(.policy, "this file is a backup", hint: .restoreBackup)
    }
  }

  private func storedHeader() throws(VaultError) -> Header {
    var held = HeldStore(of: session)
    return try held.store.storedHeader().header
  }

  /// Who keeps the device key now.
  var currentProtector: any Protector { session.protector.withLock { $0 } }
  func setProtector(_ new: any Protector) { session.protector.withLock { $0 = new } }

  /// Another process may have moved the device key to another kind of protector.
  func keeper(of header: Header) throws(VaultError) -> any Protector {
    let present = currentProtector
    if present.kind == header.protector { return present }
    let other = try environment.protector(header.protector)
    setProtector(other)
    return other
  }

  /// Lends the session outside a transaction.
  func withStore<R>(_ body: (inout SealedStore) -> R) -> R { session.withStore(body) }
}

extension VaultCore.Session {
  /// Lends the store outside a transaction.
  func withStore<R>(_ body: (inout SealedStore) -> R) -> R {
    var held = HeldStore(of: self)
    return body(&held.store)
  }
}
