import OneTimePassword
import SecretMemory
package import VaultKit

/// The synchronous core of `OTPCredential+Servers.swift`.
extension VaultCore {
  /// A credential without its secret.
  package func describeOTP(of id: ItemID) throws(VaultError) -> OTPDescription {
    var transaction = try beginReading()
    return try transaction.describeOTP(transaction.item(id))
  }

  /// The credentials with these attributes that this version knows.
  package func listOTP(where attributes: Attributes) throws(VaultError) -> [OTPDescription] {
    var transaction = try beginReading()
    var found: [OTPDescription] = []
    for item in try transaction.items(matching: Query(.otp, where: attributes))
    where !item.hasSuite && !item.isActivation {
      do throws(VaultError) { found.append(try transaction.describeOTP(item)) } catch {
        guard error.code == .unsupported else { throw error }
      }
    }
    return found
  }

  /// Reserves counters, and lends their codes. One audit entry names the block.
  package func reserveHOTPCodes(
    _ count: UInt64, of id: ItemID, lookAhead: UInt64? = nil, context: AuthenticationContext? = nil
  ) throws(VaultError) -> ReservedCodes {
    var transaction = try beginReading()
    let found = try OTPItem(transaction.item(id))
    try found.refuseUnlessHOTPProver()
    try transaction.refuseOutOfStep(found.item, codes: count, for: .offline)
    guard try found.item.guardingPIN() == nil else {
      throw VaultError(
        .policy, "counters of a credential behind a PIN are not reserved: each code needs the PIN")
    }
    var prepared = try transaction.prepareSecret(of: found.item, by: .otp)
    transaction.end()
    var change = try beginWriting(.secret(.use, of: id, by: .otp), context: context)
    let item = try OTPItem(change.item(id, of: prepared))
    try item.refuseUnlessHOTPProver()
    let generator: HOTPGenerator
    // The key is wiped at the end of this scope, and not after the commit.
    do {
      let key = try change.useSecret(of: item.item, by: .otp, prepared: prepared.take())
      generator = try item.hotp(key)
    }
    let block = try change.takeCounters(count, of: item.item, lookAhead: lookAhead ?? item.window)
    let codes = ReservedCodes(name: item.item.name ?? "", generator: generator, block: block)
    try change.commit()
    return codes
  }

  /// Records that the server accepted the last code.
  package func confirmOTP(of id: ItemID, context: AuthenticationContext? = nil) throws(VaultError) {
    var look = try beginReading()
    let item = try look.item(id)
    look.end()
    try item.refuseUnlessConfirmable()
    let guarding = try item.guardingPIN()
    let pin = guarding?.mode == .camouflaged ? guarding?.item : nil
    var use = Use.state(of: id, by: .otp)
    if let pin { use = .both(use, .secret(.use, of: pin, by: .pin)) }
    var transaction = try beginWriting(use, context: context)
    try transaction.permitChange(of: id, by: .otp)
    try transaction.changeState(of: id) { $0.unconfirmed = 0 }
    if let pin { try transaction.confirmPIN(pin) }
    try transaction.commit()
  }
}

extension OTPItem {
  fileprivate func refuseUnlessHOTPProver() throws(VaultError) {
    try refuse(unless: .prover)
    guard kind == .hotp else { throw VaultError(.policy, "only HOTP credentials have a counter") }
  }
}

extension Item {
  fileprivate func refuseUnlessConfirmable() throws(VaultError) {
    if try guardingPIN()?.mode == .camouflaged {
      try refuseUnlessProver()
    } else {
      try refuseUnlessCountingProver()
    }
  }

  private func refuseUnlessProver() throws(VaultError) {
    guard hasSuite else { return try OTPItem(self).refuse(unless: .prover) }
    try OCRAItem(self).refuse(unless: .prover)
  }

  /// Throws unless it is a prover with a counter, HOTP or OCRA.
  fileprivate func refuseUnlessCountingProver() throws(VaultError) {
    guard hasSuite else { return try OTPItem(self).refuseUnlessHOTPProver() }
    try OCRAItem(self).refuse(unless: .prover)
    guard countsCodes else { throw VaultError(.policy, "the suite of the credential has no counter") }
  }
}

extension ReadTransaction {
  fileprivate mutating func describeOTP(_ item: Item) throws(VaultError) -> OTPDescription {
    try OTPItem(item).description(state(of: item.id))
  }
}

extension WriteTransaction {
  /// Takes a block of counters. The commit writes the counter after it.
  fileprivate mutating func takeCounters(
    _ count: UInt64, of item: Item, lookAhead: UInt64
  ) throws(VaultError) -> CounterReservation {
    guard lookAhead <= HOTPVerifier.maximumWindow else { throw VaultError(otp: .invalidWindow) }
    let offline = OfflineCodes(count, of: item, for: .offline, in: reading)
    var held = try heldState(of: item.id)
    try held.state.refuseUnusable(item)
    try offline?.take(from: &held.state)
    let taken = try otp { () throws(OTPError) in
      try CounterReservation(startingAt: held.state.counter, count: count, lookAhead: lookAhead)
    }
    held.state.use(next: taken.counterAfterBlock, codes: count, at: reading.clock.now())
    try keep(held)
    let last = taken.counterAfterBlock - 1
    try log(.codeGenerated, item: item, detail: "counters \(last - (count - 1)) to \(last)")
    return taken
  }
}
