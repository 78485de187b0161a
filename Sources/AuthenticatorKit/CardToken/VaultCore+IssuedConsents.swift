import SecretMemory
package import VaultKit

/// The side of a consent that makes the code and judges it, on the synchronous core.
extension VaultCore {
  /// Makes a consent and its code.
  package func issueConsent(
    _ new: NewConsent, session: ViewingSession? = nil, context: AuthenticationContext? = nil
  ) throws(VaultError) -> IssuedConsent {
    let component = Component(.consent, session: session?.secret)
    let id = try newItemID()
    let clock = environment.clock
    try permitAdding(
      new.item(.issuer, id: id, session: session, clock: clock, now: expiryTime()), by: component,
      context: context)
    try refuseTaken(new.name)
    let code = try newConsentCode()
    let record = SharedSecret(try ConsentRecord.issuing(code, random: environment.random).data.copy())
    let item = try new.item(.issuer, id: id, session: session, clock: clock, now: expiryTime())
    var transaction = try beginWriting(.add(item, by: component), context: context)
    try transaction.deleteEnded(named: new.name)
    try transaction.endConsents(of: session?.hash)
    let added = try transaction.add(item, secret: record.bytes.copy(), by: component)
    try transaction.log(.consentRequested, item: added)
    try transaction.commit()
    return IssuedConsent(consent: try CardConsent(added, item.state, at: expiryMoment()), code: code)
  }

  /// Judges a code. The attempt and the verdict are one commit, which is on the disk before this returns.
  package func judgeConsent(
    _ id: ItemID, _ code: ConsentCode, session: ViewingSession? = nil, context: AuthenticationContext? = nil
  ) throws(VaultError) -> CardConsent {
    let left = try usingIssued(id, .use, session: session, context: context) {
      transaction, record throws(VaultError) -> Int? in
      let left = try transaction.countAttempt(of: id)
      guard record.issued(code.digits.bytes) else {
        try transaction.noteWrongCode(of: id, left: left, result: .authenticationFailed)
        return left
      }
      try transaction.end(transaction.item(id), as: .confirmed, operation: .consentConfirmed)
      return nil
    }
    if let left {
      throw VaultError(
        .authenticationFailed,
        left > 0 ? "the code is wrong" : "the code is wrong, and it was the last attempt",
        hint: left > 0 ? "compare it with the message" : .requestConsent,
        attemptsLeft: left)
    }
    return try consent(id)
  }

  /// Makes a new code for a consent, in the place of the old one.
  package func reissueConsent(
    _ id: ItemID, session: ViewingSession? = nil, context: AuthenticationContext? = nil
  ) throws(VaultError) -> IssuedConsent {
    let component = Component(.consent, session: session?.secret)
    _ = try notingEnd { () throws(VaultError) in
      try openConsent(id, as: .issuer, session: session, context: context)
    }
    let code = try newConsentCode()
    let record = SharedSecret(try ConsentRecord.issuing(code, random: environment.random).data.copy())
    try notingEnd { () throws(VaultError) in
      var transaction = try beginWriting(
        .update(id, ItemChanges(), replacesSecret: true, by: component), context: context
      ) { (look) throws(VaultError) in try look.refuseUnlessRequested(look.item(id)) }
      try transaction.countResend(of: id)
      _ = try transaction.update(id, ItemChanges(), secret: record.bytes.copy(), by: component)
      try transaction.commit()
    }
    return IssuedConsent(consent: try consent(id), code: code)
  }

  /// Lends the record of a consent that waits to one write transaction.
  private func usingIssued<R>(
    _ id: ItemID, _ operation: ItemOperation, session: ViewingSession?, context: AuthenticationContext?,
    _ body: (inout WriteTransaction, borrowing ConsentRecord) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    let component = Component(.consent, session: session?.secret)
    return try notingEnd { () throws(VaultError) in
      var transaction = try beginWriting(
        .secret(operation, of: id, by: component), to: "judge a code", context: context
      ) { (look) throws(VaultError) in
        let item = try look.item(id)
        try look.refuseUnlessRequested(item)
        if session != nil { try item.life(of: .consent).refuseOther(session) }
      }
      let item = try transaction.item(id)
      let result: R
      // The record is wiped at the end of this scope, and not after the commit.
      do {
        let record = try ConsentRecord(transaction.useSecret(of: item, by: component))
        try record.refuse(unless: .issuer)
        result = try body(&transaction, record)
      }
      try transaction.commit()
      return result
    }
  }

  private func newConsentCode() throws(VaultError) -> SecretBytes {
    try SecretBytes.characters(
      ConsentCode.digitCount, of: Array("0123456789".utf8), from: environment.random.newSecret)
  }
}
