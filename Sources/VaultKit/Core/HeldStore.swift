import SealedStorage

/// The store outside of a transaction. The next thread gets it when this value ends.
struct HeldStore: ~Copyable {
  private let session: VaultCore.Session
  private var held: SealedStore?

  /// Waits until no other thread has the store.
  init(of session: VaultCore.Session) {
    self.session = session
    held = session.take()
  }

  var store: SealedStore {
    _read { yield held! }
    _modify { yield &held! }
  }

  deinit { Self.giveBack(held, to: session) }

  private static func giveBack(_ held: consuming SealedStore?, to session: VaultCore.Session) {
    if let store = consume held { session.giveBack(store) }
  }
}
