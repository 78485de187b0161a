import VaultFormat
import VaultKeys
import SecretMemory
import Synchronization

/// The secrets that a context was given or has verified. Wiped with the last copy of the context.
final class ContextMemory: Sendable {
  /// A verification that may serve again.
  struct Kept: Sendable {
    enum Shown: Sendable {
      case passcode(PasscodeKeys)
      case member([UInt8], SharedSecret)
      case login([UInt8], SharedSecret)
    }
    let shown: Shown
    let moment: VerificationMoment
  }

  private struct State: Sendable {
    var isInvalid = false
    var given: [PromptRequest.Subject: SharedSecret] = [:]
    var kept: [Kept] = []
    var grants: [ItemID: KeptGrant] = [:]
  }
  private let state = Mutex(State())
  /// The prompts of this context that are open.
  let prompts = OpenPrompts()

  var isInvalid: Bool { state.withLock { $0.isInvalid } }

  func invalidate() {
    state.withLock {
      $0 = State()
      $0.isInvalid = true
    }
    prompts.end()
  }

  func give(_ subject: PromptRequest.Subject, secret: consuming SecretBytes) {
    let box = SharedSecret(secret)
    state.withLock { if !$0.isInvalid { $0.given[subject] = box } }
  }

  func given(_ subject: PromptRequest.Subject) -> SharedSecret? { state.withLock { $0.given[subject] } }

  /// Drops a secret that was wrong, so that it is not tried again.
  func drop(_ subject: PromptRequest.Subject) { state.withLock { $0.given[subject] = nil } }

  /// Keeps a grant for the transaction that uses it.
  func keep(_ grant: consuming Grant, for item: ItemID) {
    let grant = KeptGrant(grant)
    state.withLock { if !$0.isInvalid { $0.grants[item] = grant } }
  }

  /// The grant for an item, which serves once.
  func takeGrant(for item: ItemID) -> Grant? {
    state.withLock { $0.grants.removeValue(forKey: item) }?.take()
  }

  func keep(_ kept: Kept) { state.withLock { if !$0.isInvalid { $0.kept.append(kept) } } }

  /// The verifications for a caller, of a session, that are not older than `reuse`.
  func kept(for caller: Caller?, session: UInt64, clock: any VaultClock, reuse: UInt64) -> [Kept] {
    guard reuse > 0 else { return [] }
    return state.withLock { state in
      state.kept.removeAll { !$0.moment.isWithin(reuse, clock: clock) }
      return state.kept.filter { $0.moment.session == session && $0.moment.caller == caller }
    }
  }
}

/// A grant in a collection.
private final class KeptGrant: Sendable {
  private let grant: Mutex<Grant?>

  init(_ grant: consuming Grant) { self.grant = Mutex(consume grant) }

  func take() -> Grant? { grant.withLock { $0.take() } }
}
