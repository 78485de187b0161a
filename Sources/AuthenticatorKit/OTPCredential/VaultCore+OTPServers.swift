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
    try authorizing(.use, on: id, by: .otp, context: context) { (grant) throws(VaultError) in
      var grant = consume grant
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
      var change = try beginWriting()
      let item = try OTPItem(change.item(id, of: prepared))
      try item.refuseUnlessHOTPProver()
      let generator: HOTPGenerator
      // The key is wiped at the end of this scope, and not after the commit.
      do {
        let key = try change.useSecret(
          of: item.item, by: .otp, prepared: prepared.take(), with: grant.take())
        generator = try item.hotp(key)
      }
      let block = try change.takeCounters(count, of: item.item, lookAhead: lookAhead ?? item.window)
      let codes = ReservedCodes(name: item.item.name ?? "", generator: generator, block: block)
      try change.commit()
      return codes
    }
  }

  /// Records that the server accepted the last code.
  package func confirmOTP(of id: ItemID, context: AuthenticationContext? = nil) throws(VaultError) {
    try authorizing(.update, on: id, by: .otp, context: context) { (grant) throws(VaultError) in
      var grant = consume grant
      var transaction = try beginWriting()
      let item = try transaction.item(id)
      let pin = try item.guardingPIN()
      if pin?.mode == .camouflaged {
        try item.refuseUnlessProver()
      } else {
        try item.refuseUnlessCountingProver()
      }
      try transaction.permitChange(of: id, by: .otp, with: grant.take())
      try transaction.changeState(of: id) { $0.unconfirmed = 0 }
      if let pin, pin.mode == .camouflaged { try transaction.confirmPIN(pin.item) }
      try transaction.commit()
    }
  }
}

extension OTPItem {
  fileprivate func refuseUnlessHOTPProver() throws(VaultError) {
    try refuse(unless: .prover)
    guard kind == .hotp else { throw VaultError(.policy, "only HOTP credentials have a counter") }
  }
}

extension Item {
  fileprivate func refuseUnlessProver() throws(VaultError) {
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
    var block: CounterReservation?
    var last: UInt64 = 0
    let offline = OfflineCodes(count, of: item, for: .offline, in: reading)
    try changeState(of: item.id) { state throws(VaultError) in
      try state.refuseUnusable(item)
      try offline?.take(from: &state)
      let taken = try otp { () throws(OTPError) in
        try CounterReservation(startingAt: state.counter, count: count, lookAhead: lookAhead)
      }
      state.use(next: taken.counterAfterBlock, codes: count, of: item)
      last = taken.counterAfterBlock - 1
      block = consume taken
    }
    try log(.codeGenerated, item: item, detail: "counters \(last - (count - 1)) to \(last)")
    return block.take()!
  }
}
