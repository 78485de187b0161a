package import OneTimePassword
import SecretMemory
package import VaultKit

extension VaultCore {
  /// Judges one code for a question. With a suite with a counter or time, an accepted code is on disk before this
  /// returns. A refusal is committed before it is thrown, so that failures count across crashes.
  ///
  /// - Throws: As ``OCRACredential/verify(_:for:context:)``.
  package func verifyOCRA(
    _ text: String, for request: OCRARequest, with id: ItemID, context: AuthenticationContext? = nil
  ) throws(VaultError) -> OTPAcceptance {
    func check(_ item: Item, _ look: inout ReadTransaction) throws(VaultError) -> Bool {
      let item = try OCRAItem(item)
      try item.refuse(unless: .verifier)
      _ = try otp { () throws(OTPError) in try OCRACode(text, for: item.suite) }
      return true
    }
    let judged = try usingCredential(id, to: "judge a code", context: context, checking: check) {
      (use, look) throws(VaultError) in
      if let look = consume look { look.end() }
      var transaction = try beginWriting(.secret(.use, of: id, by: use.component), context: context)
      let item = try OCRAItem(transaction.item(id))
      try item.refuse(unless: .verifier)
      // The person may have taken long.
      let clocks = Clocks(environment.clock)
      let code = try otp { () throws(OTPError) in try OCRACode(text, for: item.suite) }
      let judged: JudgedCode
      // The key is wiped at the end of this scope, and not after the commit.
      do {
        let key = try transaction.useSecret(of: item.item, by: use.component)
        _ = try use.writeFactor(in: &transaction)
        var held = try transaction.heldState(of: id)
        try held.state.refuseUnlessActive()
        let verdict = try item.accept(code, for: request, key: key, state: &held.state, clocks: clocks)
        judged = JudgedCode(verdict, state: &held.state, clocks: clocks)
        try transaction.keep(held)
      }
      try transaction.log(.codeVerified, item: item.item, result: judged.verdict.result)
      try transaction.commit()
      return judged
    }
    return try judged.acceptance()
  }
}

extension OCRAItem {
  fileprivate func accept(
    _ code: OCRACode, for request: OCRARequest, key: borrowing SecretBytes, state: inout ItemState,
    clocks: Clocks
  ) throws(VaultError) -> OTPVerdict {
    var verifier = try otp { () throws(OTPError) in
      try OCRAVerifier(
        nextCounter: state.counter, lastAccepted: state.lastAccepted,
        throttle: state.throttle(at: clocks), window: window)
    }
    let generator = try generator(key)
    let verdict = try otp { () throws(OTPError) in
      try verifier.accept(
        code, by: generator, input: request.input(for: suite), unixTime: clocks.wall, at: clocks.boot)
    }
    state.counter = verifier.nextCounter
    state.lastAccepted = verifier.lastAccepted
    state.store(verifier.throttle, at: clocks)
    return verdict
  }
}
