import SealedStorage
import VaultFormat

/// The store, while a transaction has it. When this value ends, what was not committed is rolled back, and the next thread gets the store.
struct StoreLease: ~Copyable, Sendable {
  let core: VaultCore
  /// `nil` only after ``giveBack()``.
  private var held: SealedStore?

  /// Waits until no other thread has the store.
  init(of core: VaultCore) {
    self.core = core
    held = core.session.take()
  }

  var store: SealedStore {
    _read { yield held! }
    _modify { yield &held! }
  }

  /// Gives the store back after a commit.
  mutating func giveBack() { core.session.giveBack(held.take()!) }

  deinit { Self.rollBack(held, of: core) }

  private static func rollBack(_ held: consuming SealedStore?, of core: VaultCore) {
    guard var store = consume held else { return }
    store.rows.rollback()
    core.session.giveBack(store)
  }
}
