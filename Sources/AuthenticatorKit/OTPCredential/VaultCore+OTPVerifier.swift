package import OneTimePassword
import SecretMemory
package import VaultKit

extension VaultCore {
  /// Judges one code, single use: an accepted code is on disk before this returns.
  ///
  /// - Parameter text: Exactly the characters of a code.
  /// - Throws: ``VaultError/Code/authenticationFailed`` and ``VaultError/Code/lockedOut`` with `retryAfter`,
  ///   ``VaultError/Code/alreadyUsed``, ``VaultError/Code/malformed``, ``VaultError/Code/policy`` for a prover.
  package func verifyOTP(
    of id: ItemID, code text: String, context: AuthenticationContext? = nil
  ) throws(VaultError) -> OTPAcceptance {
    try judge(id, as: .codeVerified, context: context) { item, key, state, clocks throws(VaultError) in
      let code = try otp { () throws(OTPError) in try OTPCode(text, format: item.format) }
      return try item.accept(code, key: key, state: &state, clocks: clocks)
    }
  }

  /// Finds the counter, or the clock, of the other side again, by two consecutive codes (RFC 4226 §7.4).
  package func resynchronizeOTP(
    of id: ItemID, _ first: String, _ second: String, context: AuthenticationContext? = nil
  ) throws(VaultError) -> OTPAcceptance {
    try judge(id, as: .resynchronized, context: context) { item, key, state, clocks throws(VaultError) in
      let codes = try otp { () throws(OTPError) in
        (try OTPCode(first, format: item.format), try OTPCode(second, format: item.format))
      }
      return try item.resynchronize(codes.0, then: codes.1, key: key, state: &state, clocks: clocks)
    }
  }

  /// Judges in one transaction. A refusal is committed before it is thrown, so that failures count across crashes.
  private func judge(
    _ id: ItemID, as operation: AuditOperation, context: AuthenticationContext?,
    body: (OTPItem, borrowing SecretBytes, inout ItemState, Clocks) throws(VaultError) -> OTPVerdict
  ) throws(VaultError) -> OTPAcceptance {
    func check(_ item: Item, _ look: inout ReadTransaction) throws(VaultError) -> Bool {
      try OTPItem(item).refuse(unless: .verifier)
      return true
    }
    let judged = try usingCredential(id, to: "judge a code", context: context, checking: check) {
      (use, look) throws(VaultError) in
      if let look = consume look { look.end() }
      var transaction = try beginWriting(.secret(.use, of: id, by: use.component), context: context)
      let item = try OTPItem(transaction.item(id))
      try item.refuse(unless: .verifier)
      // The person may have taken long.
      let clocks = Clocks(environment.clock)
      let judged: JudgedCode
      // The key is wiped at the end of this scope, and not after the commit.
      do {
        let key = try transaction.useSecret(of: item.item, by: use.component)
        _ = try use.writeFactor(in: &transaction)
        var held = try transaction.heldState(of: id)
        try held.state.refuseUnlessActive()
        let verdict = try body(item, key, &held.state, clocks)
        judged = JudgedCode(verdict, state: &held.state, clocks: clocks)
        try transaction.keep(held)
      }
      try transaction.log(operation, item: item.item, result: judged.verdict.result)
      try transaction.commit()
      return judged
    }
    return try judged.acceptance()
  }
}

extension OTPVerdict {
  /// The result as the audit log records it.
  var result: AuditResult {
    switch self {
    case .accepted: .success
    case .refused(.waiting): .lockedOut
    case .refused: .authenticationFailed
    }
  }
}

extension OTPItem {
  func accept(_ code: OTPCode, key: borrowing SecretBytes, state: inout ItemState, clocks: Clocks)
    throws(VaultError) -> OTPVerdict
  {
    if kind == .hotp {
      var verifier = try hotpVerifier(of: state, at: clocks)
      let generator = try hotp(key)
      let verdict = try otp { () throws(OTPError) in try verifier.accept(code, by: generator, at: clocks.boot)
      }
      store(verifier, in: &state, at: clocks)
      return verdict
    }
    var verifier = try totpVerifier(of: state, at: clocks)
    let generator = try totp(key)
    let verdict = try otp { () throws(OTPError) in
      try verifier.accept(code, by: generator, unixTime: clocks.wall, at: clocks.boot)
    }
    store(verifier, in: &state, at: clocks)
    return verdict
  }

  func resynchronize(
    _ first: OTPCode, then second: OTPCode, key: borrowing SecretBytes, state: inout ItemState,
    clocks: Clocks
  ) throws(VaultError) -> OTPVerdict {
    if kind == .hotp {
      var verifier = try hotpVerifier(of: state, at: clocks)
      let generator = try hotp(key)
      let verdict = try otp { () throws(OTPError) in
        try verifier.resynchronize(first, second, by: generator, at: clocks.boot)
      }
      store(verifier, in: &state, at: clocks)
      return verdict
    }
    var verifier = try totpVerifier(of: state, at: clocks)
    let generator = try totp(key)
    let verdict = try otp { () throws(OTPError) in
      try verifier.resynchronize(first, second, by: generator, unixTime: clocks.wall, at: clocks.boot)
    }
    store(verifier, in: &state, at: clocks)
    return verdict
  }

  // MARK: State

  private func hotpVerifier(of state: ItemState, at clocks: Clocks) throws(VaultError) -> HOTPVerifier {
    try otp { () throws(OTPError) in
      try HOTPVerifier(
        nextCounter: state.counter, lastAccepted: state.lastAccepted,
        throttle: state.throttle(at: clocks),
        lookAhead: window)
    }
  }

  private func totpVerifier(of state: ItemState, at clocks: Clocks) throws(VaultError) -> TOTPVerifier {
    try otp { () throws(OTPError) in
      try TOTPVerifier(
        lastAccepted: state.lastAccepted, offsetSteps: state.clockOffset,
        throttle: state.throttle(at: clocks),
        window: window)
    }
  }

  private func store(_ verifier: HOTPVerifier, in state: inout ItemState, at clocks: Clocks) {
    state.counter = verifier.nextCounter
    state.lastAccepted = verifier.lastAccepted
    state.store(verifier.throttle, at: clocks)
  }

  private func store(_ verifier: TOTPVerifier, in state: inout ItemState, at clocks: Clocks) {
    state.lastAccepted = verifier.lastAccepted
    state.clockOffset = verifier.offsetSteps
    state.store(verifier.throttle, at: clocks)
  }
}
