import VaultKit

/// How failures of a biokey lead to the PIN: the biokey alone, after three failures the biokey or the PIN, after five the
/// PIN alone, until the PIN is right. The failures count in the biokey, on disk, so a program that is killed climbs on where
/// it was.
///
/// One value serves one use, and tells afterwards what was shown.
final class FactorLadder {
  /// What was shown in the end: the PIN or the biokey.
  private(set) var shown = PINFactors()

  /// Whether the PIN may answer too.
  ///
  /// - Parameter left: How many more failures lock the biokey.
  fileprivate func offersPIN(left: Int) -> Bool { left <= Self.leftWithPIN }

  fileprivate func note(_ factor: PINFactors) { shown = factor }

  /// Of five attempts, three are made without the PIN.
  private static let leftWithPIN = 2
}

extension VaultCore {
  /// Gets the biokey of a PIN, or the PIN after failures. Asks the person again after a wrong phrase or finger.
  ///
  /// - Throws: ``VaultError/Code/cancelled`` if the person declines and chooses nothing else;
  ///   ``VaultError/Code/authenticationFailed`` for a phrase that was given in advance and is wrong; what showing the PIN
  ///   throws.
  func climb(
    _ ladder: FactorLadder, _ pin: GuardingPIN, to action: String, of label: String?,
    context: AuthenticationContext?
  ) throws(VaultError) -> ShownFactor {
    var problem: VaultError?
    if let biokey = try biokey(of: pin),
      let shown = try shownBiokey(
        biokey, climbing: ladder, pin, to: action, of: label, withdrawn: &problem, context: context)
    {
      ladder.note(.biometric)
      return .biokey(shown)
    }
    let shown = try shownPIN(pin, to: action, of: label, inPlaceOf: problem, context: context)
    ladder.note(.current)
    return .pin(shown)
  }

  /// - Parameter withdrawn: Why the biokey does not open now, where the person does not know.
  /// - Returns: `nil` if the PIN is next.
  private func shownBiokey(
    _ biokey: Item, climbing ladder: FactorLadder, _ pin: GuardingPIN, to action: String, of label: String?,
    withdrawn: inout VaultError?, context: AuthenticationContext?
  ) throws(VaultError) -> ShownBiokey? {
    var problem: VaultError?
    while true {
      let left = try biometryAttemptsLeft(of: biokey)
      let offersPIN = ladder.offersPIN(left: left)
      let isPINGiven = offersPIN ? try context?.isGiven(.pin) ?? false : false
      guard left > 0, !isPINGiven else { return nil }
      let isGiven = try context?.isGiven(.phrase) ?? false
      let rung = LadderRung(alternatives: offersPIN ? [.pin] : [], problem: problem)
      do throws(VaultError) {
        return try shownBiokey(
          biokey, pin: pin.item, to: action, of: label, context: context?.standing(on: rung))
      } catch {
        if rung.isAlternativeChosen { return nil }
        if Self.withdraws.contains(error.code) {
          if Self.isUnexpected(error) { withdrawn = error }
          return nil
        }
        guard error.code == .authenticationFailed, !isGiven else { throw error }
        problem = error
      }
    }
  }

  /// Why a biokey does not open now, whatever the person shows.
  private static let withdraws: Set<VaultError.Code> = [
    .biokeyLocked, .biometryLocked, .invalidated, .itemNotFound, .policy, .unsupported,
    .verificationUnavailable,
  ]
}
