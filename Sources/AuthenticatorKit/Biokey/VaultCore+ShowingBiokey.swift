import SecretMemory
import VaultKit

/// What was shown for an item behind a PIN.
enum ShownFactor {
  case pin(ShownPIN)
  case biokey(ShownBiokey)

  /// What a component obtained for the item.
  var obtained: Component.ObtainedPIN {
    switch self {
    case .pin(let pin): pin.obtained
    case .biokey(let biokey): .checked(biokey.secret)
    }
  }
}

/// Whether a use asks for the PIN or for the biokey.
extension VaultCore {
  /// Gets the PIN that guards an item, or the biokey in its place.
  ///
  /// A PIN that was given is used. Otherwise a biokey that can open is asked for first, and the PIN if the biokey is locked or
  /// the person declines it. A wrong phrase or finger is an error.
  ///
  /// - Parameters:
  ///   - factors: What may be asked for.
  ///   - ladder: How failures of the biokey lead to the PIN; `nil` where a failure is an error.
  ///   - label: The name of the item, for the person.
  /// - Throws: ``VaultError/Code/policy`` if none of the factors makes a code here.
  func shownFactor(
    _ pin: GuardingPIN, by factors: PINFactors, climbing ladder: FactorLadder? = nil, to action: String,
    of label: String?, context: AuthenticationContext?
  ) throws(VaultError) -> ShownFactor {
    if let ladder {
      return try climb(ladder, pin, to: action, of: label, context: context)
    }
    let mayTypePIN = factors.contains(.current)
    let isPINGiven = mayTypePIN ? try context?.isGiven(.pin) ?? false : false
    guard !isPINGiven, factors.contains(.biometric), let biokey = try biokey(of: pin) else {
      guard mayTypePIN else { throw Self.noFactor(factors) }
      return .pin(try shownPIN(pin, to: action, of: label, context: context))
    }
    do throws(VaultError) {
      return .biokey(try shownBiokey(biokey, pin: pin.item, to: action, of: label, context: context))
    } catch {
      guard mayTypePIN, Self.leavesThePIN.contains(error.code) else { throw error }
      let isUnexpected = Self.isUnexpected(error)
      // A phrase that was given answers no prompt for a PIN.
      if isUnexpected, try context?.isGiven(.phrase) ?? false { throw error }
      return .pin(
        try shownPIN(pin, to: action, of: label, inPlaceOf: isUnexpected ? error : nil, context: context))
    }
  }

  /// Whether a person who wants to show the biokey is told why the PIN is asked for.
  static func isUnexpected(_ error: VaultError) -> Bool {
    [.biokeyLocked, .biometryLocked, .invalidated, .verificationUnavailable].contains(error.code)
  }

  /// The biokey that replaces a checked PIN. The index finds it, because each code looks for it.
  func biokey(of pin: GuardingPIN) throws(VaultError) -> Item? {
    guard pin.mode == .checked else { return nil }
    var attributes = Attributes()
    attributes[.applicationTag] = pin.item.bytes
    return try items(matching: Query(.biokey, where: attributes)).first
  }

  func shownBiokey(
    _ biokey: Item, pin: ItemID, to action: String, of label: String?, context: AuthenticationContext?
  ) throws(VaultError) -> ShownBiokey {
    // A blocked PIN, or one of a copied file, is refused or settled first.
    let stored = try usablePIN(pin, context: context)
    try refuseLockedBiometry(of: biokey)
    var notes: [AuditNote] = []
    var proof: VerificationProof?
    let secret: SharedSecret
    do throws(VaultError) {
      var transaction = try beginReading(
        .secret(.use, of: biokey.id, by: .biokey), to: action, of: label, context: context)
      proof = transaction.proof
      let opened = try transaction.useSecret(of: transaction.item(biokey.id), by: .biokey)
      notes = opened.notes
      let record = try BiokeyRecord(opened.intoSecret())
      guard record.pin == pin else {
        throw VaultError(.damaged, "a biokey names two PINs", hint: .verifyAndRestore)
      }
      secret = SharedSecret(record.withSecret { SecretBytes(copying: $0) })
    } catch {
      // The words for an item would advise to delete the credential.
      throw error.code == .invalidated ? .biokeyInvalidated : error
    }
    guard let proof else {
      throw VaultError(.damaged, "a biokey asks for no member", hint: .verifyAndRestore)
    }
    return ShownBiokey(
      pin: pin, pinData: stored.material, secret: secret, settledMark: stored.settledMark, proof: proof,
      notes: notes)
  }

  /// Runs a use that was given the phrase of a biokey again if another process has made new keys since the biokey was opened. A
  /// person who has typed a phrase or shown a finger is not asked again; the keys of a PIN outlast new keys.
  func repeatingBiokey<R: ~Copyable>(
    of shown: () -> ShownFactor?, _ context: AuthenticationContext?, _ use: () throws(VaultError) -> R
  ) throws(VaultError) -> R {
    try repeatingUnderNewKeys(
      if: { () throws(VaultError) in
        guard case .biokey? = shown() else { return false }
        return try context?.isGiven(.phrase) ?? false
      }, use)
  }

  /// Why a biokey cannot be used now, and the PIN can.
  private static let leavesThePIN: Set<VaultError.Code> = [
    .biokeyLocked, .biometryLocked, .cancelled, .interactionNotAllowed, .invalidated, .itemNotFound, .policy,
    .unsupported, .verificationUnavailable,
  ]

  private static func noFactor(_ factors: PINFactors) -> VaultError {
    if factors.contains(.biometric) {
      return VaultError(
        .policy, "no biokey replaces the PIN", hint: "register one, or use the PIN")
    }
    return VaultError(
      .policy, "the credential is behind a PIN, and makes no code without the PIN or a biokey",
      hint: "allow the current PIN")
  }
}

extension VaultError {
  fileprivate static var biokeyInvalidated: VaultError {
    VaultError(
      .invalidated, "the biokey no longer opens: the enrolled set has changed since it was registered",
      hint: .registerBiokey)
  }
}
