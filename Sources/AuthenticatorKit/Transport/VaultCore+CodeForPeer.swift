import OneTimePassword
import VaultKit

extension VaultCore {
  /// A code for a question, of a credential with a suite; without a question the next code.
  func code(
    of item: Item, for question: OCRAQuestion?, by factors: PINFactors, for purpose: CodePurpose,
    context: AuthenticationContext?
  ) throws(VaultError) -> CodeForPeer {
    guard let question else {
      let made = try nextCode(of: item, by: factors, for: purpose, context: context)
      return CodeForPeer(code: made.code, counter: made.counter, notices: made.notices)
    }
    let made = try signOCRA(
      OCRARequest(question), with: item.id, by: factors, for: purpose, context: context)
    return CodeForPeer(code: made.code, counter: made.counter, notices: made.notices)
  }

  /// The next code of a credential without a suite.
  func nextCode(
    of item: Item, by factors: PINFactors, for purpose: CodePurpose, context: AuthenticationContext?
  ) throws(VaultError) -> OTPResult {
    item.countsCodes
      ? try nextHOTPCode(of: item.id, by: factors, for: purpose, context: context)
      : try timedCode(of: item.id, by: factors, for: purpose, context: context)
  }
}
