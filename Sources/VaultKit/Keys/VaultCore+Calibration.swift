import VaultFormat
import VaultKeys
import Glibc
import SecretMemory

extension VaultCore {
  /// Derives the keys of the same passcode again, with parameters that take at most `target` on this machine.
  ///
  /// - Parameter step: Called before each measurement.
  /// - Returns: The costs of a derivation before and after the change.
  /// - Throws: ``VaultError/Code/authenticationFailed``, ``VaultError/Code/passcodeDelay``, ``VaultError/Code/policy``.
  package func recalibrate(
    _ passcode: borrowing Passcode, target: Duration, step: () -> Void = {}
  ) throws(VaultError) -> (before: DerivationCost, now: DerivationCost) {
    // A wrong passcode is counted and reported before the measurements, which take long.
    let validity = CallValidity(self)
    let before = try verified(passcode, for: validity)
    return try recalibrate(passcode, from: before, target: target, validity: validity, step: step)
  }

  /// The same with a passcode that was verified before.
  ///
  /// - Parameter checked: The result of verifying this passcode.
  package func recalibrate(
    _ passcode: borrowing Passcode, checked: CheckedPasscode, target: Duration, step: () -> Void
  ) throws(VaultError) -> (before: DerivationCost, now: DerivationCost) {
    try recalibrate(
      passcode, from: checked.keys, target: target, validity: CallValidity(self), step: step)
  }

  private func recalibrate(
    _ passcode: borrowing Passcode, from before: PasscodeKeys, target: Duration, validity: CallValidity,
    step: () -> Void
  ) throws(VaultError) -> (before: DerivationCost, now: DerivationCost) {
    let old = before.derivation.parameters
    let cost = DerivationCalibration.Measured(parameters: old, time: try environment.time(of: old))
    let new = try DerivationCalibration(target: target, in: environment).choose {
      parameters throws(VaultError) in
      step()
      return try environment.time(of: parameters)
    }
    try exchange(before, for: passcode, parameters: new.parameters, validity: validity)
    return (DerivationCost(cost), DerivationCost(new))
  }
}
