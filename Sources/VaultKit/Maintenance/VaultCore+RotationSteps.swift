import SealedStorage
import VaultFormat
import VaultKeys

/// A rotation of the epoch in steps, for a program that does other work in between.
extension VaultCore {
  /// Opens every part of the vault, then begins a new epoch. From then on two generations of keys are in force, until
  /// ``continueRotation()`` has moved the last part.
  ///
  /// - Parameter passcode: Required if a passcode is set.
  /// - Throws: ``VaultError/Code/policy`` while a rotation is under way; as
  ///   ``rotateEpoch(passcode:dropDamaged:isAnew:progress:damaged:)`` with nothing changed.
  package func beginRotation(
    passcode: consuming Passcode? = nil, progress: (VerifyProgress) -> Void = { _ in }
  ) throws(VaultError) {
    guard try rotationPhase() == nil else { throw Self.underWay }
    let validity = CallValidity(self)
    let keys = try keysToRotate(passcode)
    try prepareEpoch(dropDamaged: false, progress: progress, told: { _ in })
    guard try beginEpoch(keys, for: validity) != nil else { throw Self.underWay }
  }

  private static var underWay: VaultError {
    VaultError(.policy, "a rotation of the epoch is under way", hint: "continue that one first")
  }

  /// Moves one batch of the rotation that is under way, at most 4,000 items. The last batch ends the rotation.
  ///
  /// - Returns: Whether there is more to move. `false` too if no rotation is under way.
  /// - Throws: ``VaultError/Code/locked``, ``VaultError/Code/readOnly``. ``VaultError/Code/damaged`` or
  ///   ``VaultError/Code/newerFormat`` if the only parts left do not open: the rotation is paused.
  package func continueRotation() throws(VaultError) -> Bool {
    guard try rotationPhase() != nil else { return false }
    guard isUnlocked else {
      throw VaultError(.locked, "the vault is locked", hint: "continuing the rotation needs the passcode")
    }
    try refuseReadOnly()
    try resumeRotation()
    guard try rotationPhase() != .paused else { throw Self.paused(try damagedParts()) }
    return isRotating
  }

  /// The keys of the passcode, which a new generation is wrapped under; `nil` without a passcode.
  func keysToRotate(_ passcode: consuming Passcode?) throws(VaultError) -> PasscodeKeys? {
    var keys: PasscodeKeys?
    if let typed = consume passcode { keys = try verified(typed) }
    guard keys != nil || !hasPasscode else {
      throw VaultError(.locked, "the vault is locked", hint: "rotating the epoch needs the passcode")
    }
    // If another process removed the passcode, parts that it guarded do not open here, but are not damaged.
    try refuseShut()
    return keys
  }
}
