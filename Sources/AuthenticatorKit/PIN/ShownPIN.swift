import SecretMemory
import VaultKit

/// A PIN that a person has shown for one use, until the commit of this use.
struct ShownPIN: Sendable {
  /// What the PIN gave.
  enum Secret: Sendable {
    /// `D`: the PIN is right.
    case checked(SharedSecret)
    /// The key of the masks under this offset, right or wrong.
    case camouflaged(SharedSecret, offset: [UInt8])
  }

  let stored: StoredPIN
  let secret: Secret
  /// The PIN, to compare a new one with.
  let digits: SharedSecret
  /// How it was given, for the log.
  let shown: Shown
  /// Whether the verdict of a checked PIN is on the disk already, because the use asks the person for more.
  var isWritten = false

  /// Whether the file had been copied or restored since the last PIN.
  var wasMarked: Bool { stored.settledMark != nil }

  /// What a component obtained for an item behind the PIN.
  var obtained: Component.ObtainedPIN {
    switch secret {
    case .checked(let secret): .checked(secret)
    case .camouflaged: .camouflaged
    }
  }

}

extension VaultCore {
  /// Runs the use of what was shown. If it fails, the verdict on a checked PIN gets a commit of its own: what failed was not the PIN,
  /// and a right one is no wrong attempt.
  ///
  /// - Parameter shown: What was shown so far; `nil` if nothing was.
  func committingVerdict<R: ~Copyable>(
    on shown: () -> ShownFactor?, _ use: () throws(VaultError) -> R
  ) throws(VaultError) -> R {
    do throws(VaultError) { return try use() } catch {
      if case .pin(let pin)? = shown(), case .checked = pin.secret, !pin.isWritten {
        try? commitVerdict(on: pin)
      }
      throw error
    }
  }

  private func commitVerdict(on pin: ShownPIN) throws(VaultError) {
    var transaction = try beginWriting()
    try transaction.writeUse(of: pin)
    try transaction.commit()
  }
}

extension WriteTransaction {
  /// Writes what the use of a PIN leaves in its item: of a checked one the verdict, of a camouflaged one that it was
  /// tried. The same commit must hold what the PIN permits.
  ///
  /// - Returns: The number of codes since the server last confirmed one, for a camouflaged PIN.
  @discardableResult
  mutating func writeUse(of pin: ShownPIN) throws(VaultError) -> UInt32? {
    let id = pin.stored.id
    guard try reading.materialVersion(of: id) == pin.stored.material, !hasMarked else { throw .pinChanged }
    guard !pin.isWritten else {
      guard try !reading.state(of: id).isBlocked else { throw .pinBlocked }
      return nil
    }
    let now = reading.clock.now()
    var held = try heldState(of: id)
    held.state.uses &+= 1
    held.state.lastUse = now
    guard case .camouflaged(_, let offset) = pin.secret else {
      guard !held.state.isBlocked else { throw .pinBlocked }
      PINAttempts.succeed(&held.state)
      try keep(held)
      try log(pin.shown.notes(.pin))
      try log(.pinVerified, item: pin.stored.item)
      return nil
    }
    guard held.state.offsetInUse == offset else { throw .pinChanged }
    // Marked since it was asked for: the passcode has not been verified.
    guard pin.wasMarked || !held.state.needsResync else { throw .pinChanged }
    held.state.needsResync = false
    let (sum, isBeyond) = held.state.unconfirmed.addingReportingOverflow(1)
    held.state.unconfirmed = isBeyond ? .max : sum
    try keep(held)
    try log(pin.stored.settledMark ?? [])
    try log(pin.shown.notes(.pin))
    return held.state.unconfirmed
  }
}
