package import VaultFormat
import SealedStorage
import VaultStorage

/// The end of tokens and consents (section 12): their secret leaves the file, and their row stays for a day.
extension WriteTransaction {
  /// Ends the tokens and consents that are not valid. Every write transaction begins with this; it costs nothing while the
  /// head row says that there is none, and a look at the clocks while none is due and the clocks agree.
  ///
  /// - Parameter all: Ends those that are valid too: in a copy or an old state of the file, they may have been used.
  mutating func endTokens(all: Bool) throws(VaultError) {
    let clock = store.environment.clock
    guard head.nextTokenEnd != NextTokenEnd() else { return }
    guard all || head.nextTokenEnd.isDue(clock) || store.time.isDisputed else { return }
    let ended = changes.endedTokens
    var next = NextTokenEnd()
    for item in try tokensAndConsents() where item.hasSecret {
      guard let life = item.tokenLife else { continue }
      let isOver = life.standing(clock) == .over
      guard isOver || all else {
        next.note(life)
        continue
      }
      do throws(VaultError) {
        try end(
          item, as: isOver ? .expired : .revoked,
          detail: isOver ? "its time is over" : "the file is a copy or an older state")
      } catch {
        // A state that does not open must not prevent every commit.
        guard error.isUnreadable, !changes.isHalfDone else { throw error }
      }
    }
    guard next != head.nextTokenEnd || changes.endedTokens > ended else { return }
    head.nextTokenEnd = next
    changes.isDirty = true
  }

  /// Ends a token or a consent: deletes its secret in this commit, and lets its row expire now. What has ended stays as it is.
  ///
  /// - Parameters:
  ///   - state: What became of a consent.
  ///   - operation: What is logged; `nil` for the end of a token, or of a consent.
  package mutating func end(
    _ item: Item, as state: ConsentState = .revoked, operation: AuditOperation? = nil,
    detail: String? = nil
  ) throws(VaultError) {
    guard item.hasSecret else { return }
    try changeState(of: item.id) { found throws(VaultError) in
      if item.kind == .consent { found.set(state) }
      found.usesLeft = 0
    }
    try deleteSecret(of: item.id)
    changes.endedTokens += 1
    let usual: AuditOperation = item.kind == .consent ? .consentEnded : .tokenEnded
    try log(operation ?? usual, item: item, detail: detail)
  }

  /// All tokens and consents, those that have ended too.
  package mutating func tokensAndConsents() throws(VaultError) -> [Item] { try store.tokensAndConsents() }

  /// How many tokens and consents this transaction has ended, those included that it ended by itself.
  package var endedTokens: Int { changes.endedTokens }

  /// Deletes the secret of an item, which expires now. Needs no key of the secret.
  private mutating func deleteSecret(of id: ItemID) throws(VaultError) {
    let now = store.time.now.milliseconds
    try rewriteInGeneration(id, deletingSecret: true) { row, _ in
      row.flags &= ~ItemFlags.hasSecret
      row.material = 0
      row.expires = min(row.expires ?? .max, now)
    }
  }
}

extension SealedStore {
  /// All tokens and consents, those that have ended too. Each has an expiry, so no other item is read. One that does not open
  /// is left out: it must not keep the others.
  fileprivate mutating func tokensAndConsents() throws(VaultError) -> [Item] {
    var found: [Item] = []
    for number in try rows.expired(before: .max) {
      guard let row = try rows.item(row: number) else { continue }
      guard [.cardToken, .consent].contains(ItemKind(rawValue: row.kind)) else { continue }
      do throws(VaultError) { found.append(try open(row)) } catch {
        guard error.isUnreadable else { throw error }
      }
    }
    return found
  }
}

extension ReadTransaction {
  /// Whether a write would end a token or a consent: its time is over by one of the clocks.
  mutating func hasTokenToEnd(_ next: NextTokenEnd) throws(VaultError) -> Bool {
    let clock = store.environment.clock
    if next.isDue(clock) { return true }
    guard next != NextTokenEnd(), store.time.isDisputed else { return false }
    return try store.tokensAndConsents().contains { $0.hasSecret && $0.tokenLife?.standing(clock) == .over }
  }
}

extension Item {
  /// How long a token or a consent is valid; `nil` for other items, and for a policy that this version does not understand.
  package var tokenLife: TokenLife? { policy.understood?.life }
}
