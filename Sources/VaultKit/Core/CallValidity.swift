import VaultFormat

/// Whether what a call opens is still wanted: its task is not cancelled, its context is not invalidated, and the vault
/// was not locked since the call began.
///
/// A prompt, a reader and a key derivation take their time, and other calls go on meanwhile. So this is checked after
/// each of them.
struct CallValidity: Sendable {
  let core: VaultCore
  let call: OpenCall?
  /// Whether the caller has ended what it called with, such as its context.
  private let isEnded: @Sendable () -> Bool
  /// The session in which the call began, or the one of ``renew()``. Grants and kept verifications are bound to it.
  private(set) var session: UInt64
  /// How many times the vault had been locked when the call began.
  let locks: UInt64

  init(
    _ core: VaultCore, call: OpenCall? = nil, endedBy isEnded: @escaping @Sendable () -> Bool = { false }
  ) {
    self.core = core
    self.call = call
    self.isEnded = isEnded
    (session, locks) = core.session.latch.session
  }

  /// Goes on under the keys that another process has made meanwhile. After a lock it does not.
  mutating func renew() {
    let (session, locks) = core.session.latch.session
    if locks == self.locks { self.session = session }
  }

  /// Throws if the result is not wanted.
  ///
  /// - Throws: ``VaultError/Code/appCancelled``.
  func check() throws(VaultError) { try check(locks: core.session.latch.locks) }

  /// The same inside a transaction, which knows how many times the vault was locked.
  func check(locks now: UInt64) throws(VaultError) {
    guard call?.isCancelled != true, !isEnded() else { throw Self.ended }
    guard now == locks else {
      throw VaultError(.appCancelled, "the vault was locked meanwhile", hint: "try again")
    }
  }

  /// As ``check(locks:)``, and the caller waits from now on, because the vault is about to be unlocked.
  func beginUse(locks now: UInt64) throws(VaultError) {
    try check(locks: now)
    guard call?.beginUse() != false else { throw Self.ended }
  }

  /// The program has made the context invalid.
  static var ended: VaultError { VaultError(.appCancelled, "the program ended the prompt") }
}
