import OneTimePassword
import VaultKit

/// A verdict that was stored, and what it says to the caller.
struct JudgedCode {
  let verdict: OTPVerdict
  /// How long the verifier judges no other code.
  let delay: Duration

  init(_ verdict: OTPVerdict, state: inout ItemState, clocks: Clocks) {
    self.verdict = verdict
    if case .accepted = verdict { state.lastUse = Instant(seconds: clocks.wall) }
    delay = .seconds(state.throttle(at: clocks).remainingSeconds(at: clocks.boot))
  }

  /// How the code was accepted.
  ///
  /// - Throws: Why it was refused. A delay begins with the first wrong code, so no attempt is left after it.
  func acceptance() throws(VaultError) -> OTPAcceptance {
    switch verdict {
    case .accepted(let acceptance): return acceptance
    case .refused(.noMatch):
      throw VaultError(.authenticationFailed, "the code is wrong", attemptsLeft: 0, retryAfter: delay)
    case .refused(.alreadyUsed):
      throw VaultError(.alreadyUsed, "the code was used already", hint: "wait for the next one")
    case .refused(.waiting(let seconds)):
      throw VaultError(
        .lockedOut, "the code was not judged, because a wrong one came before it", attemptsLeft: 0,
        retryAfter: .seconds(seconds))
    }
  }
}
