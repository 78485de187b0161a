import VaultKit

/// What of a transaction's factors a device has.
extension VaultCore {
  /// The factors that a transaction offers and the device has. A biokey that is locked, or that never opens again, is left
  /// out where something else is left: the PIN ends its lock.
  func choices(
    of offered: [TransactionFactor], for transaction: Item
  ) throws(VaultError) -> [TransactionFactor] {
    let id = transaction.attributes[.credential].flatMap(ItemID.init)
    guard let id, let item = try items(matching: Query(id: id)).first,
      let credential = try? PeerCredential(item)
    else { return [] }
    let pin = try item.guardingPIN()
    let biokey: Item? = if let pin { try biokey(of: pin) } else { nil }
    var choices: [TransactionFactor] = []
    for factor in offered {
      let isThere =
        switch factor {
        case .device: try deviceCredential(of: item) != nil
        case .biometry: biokey != nil && credential.takesBiometry
        case .pin: pin != nil && credential.takesPIN
        }
      if isThere { choices.append(factor) }
    }
    guard let biokey, choices.count > 1 else { return choices }
    let (left, isBeyondReach) = (try biometryAttemptsLeft(of: biokey), try isBeyondReach(biokey))
    return left > 0 && !isBeyondReach ? choices : choices.filter { $0 != .biometry }
  }

  /// The credential that needs no PIN: the device credential, or if the server gave none the credential itself if no PIN
  /// guards it. A device credential that was deleted, or that stayed on another device, has no substitute.
  func deviceCredential(of credential: Item) throws(VaultError) -> Item? {
    var signer: Item? = credential
    if credential.attributes[.credential] != nil {
      var transaction = try beginReading()
      signer = try transaction.deviceCredential(of: credential)
    }
    guard let signer, try signer.guardingPIN() == nil else { return nil }
    return signer
  }

  /// Throws before a person is asked if the credential makes no code now.
  func refuseUnusable(_ id: ItemID) throws(VaultError) {
    var transaction = try beginReading()
    let item = try transaction.item(id)
    let state = try transaction.state(of: id)
    if item.countsCodes { try state.refuseUnusable(item) } else { try state.refuseUnlessActive() }
  }
}

extension PeerCredential {
  /// Whether the peer takes codes that the PIN made.
  var takesPIN: Bool { !mode.isDisjoint(with: [.current, .new]) }
  /// Whether the peer takes codes that a biokey made.
  var takesBiometry: Bool { mode.contains(.biometric) }
}

extension TransactionDetails {
  /// The factor that accepts the transaction.
  ///
  /// - Throws: ``VaultError/Code/policy`` for a factor that is not offered or not there, and without one of several.
  func chosen(_ factor: TransactionFactor?) throws(VaultError) -> TransactionFactor {
    let names = choices.map(\.rawValue).joined(separator: ", ")
    if let factor {
      guard offered.contains(factor) else {
        throw VaultError(
          .policy, "the transaction cannot be accepted by '\(factor.rawValue)'",
          hint: choices.isEmpty ? nil : "it can be accepted by: \(names)")
      }
      guard choices.contains(factor) else { throw .absent(factor) }
      return factor
    }
    guard let only = choices.first else { throw .absent(offered.first ?? .pin) }
    guard choices.count == 1 else {
      throw VaultError(
        .policy, "the transaction can be accepted in several ways, and none is chosen",
        hint: "choose one of: \(names)")
    }
    return only
  }
}

extension VaultError {
  static func absent(_ factor: TransactionFactor) -> VaultError {
    switch factor {
    case .device:
      VaultError(
        .policy, "the device has no credential of its own for this server",
        hint: "choose another way, or activate the credential again")
    case .biometry:
      VaultError(.policy, "no biokey opens the credential now", hint: "use the PIN, or register a biokey")
    case .pin:
      VaultError(.policy, "the credential has no PIN", hint: "choose another way")
    }
  }
}
