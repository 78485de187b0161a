public import VaultKit

/// A PIN item as anyone with the device key sees it: neither the passcode nor the PIN is asked for.
public struct PINStatus: Sendable, Identifiable {
  /// The PIN item.
  public let id: ItemID
  /// Its vault-wide name.
  public let name: String
  /// Who judges the PIN; `nil` for a mode that this version does not know. Advisory: the device key alone can change it.
  public let mode: PINMode?
  /// How many wrong PINs in a row block a checked PIN; `nil` for a camouflaged one.
  public let limit: Int?
  /// How many more wrong PINs are judged; `nil` for a camouflaged one.
  public let attemptsLeft: Int?
  /// Whether no PIN is judged any more.
  public let isBlocked: Bool
  /// Whether the file was copied or restored since the last PIN: the next one needs the passcode, if there is one.
  public let isMarked: Bool
  /// Whether a change of a camouflaged PIN waits for ``PINItem/confirm(context:)`` or ``PINItem/undo(context:)``.
  public let hasPendingChange: Bool
  /// How many codes were made with a camouflaged PIN since the server last confirmed one; 0 for a checked one.
  public let codesSinceConfirmation: Int
  /// How many PINs were right, or how many codes a camouflaged PIN made.
  public let uses: UInt64
  /// The items behind it, in the order of their enrollment.
  public let credentials: [ItemID]
  /// Whether a biokey can stand in for it.
  public let hasBiokey: Bool
  /// Which factors make a code with the credentials behind it.
  public let factors: PINFactors

  init(_ item: Item, _ state: ItemState, credentials: [Item], hasBiokey: Bool) {
    let known = item.attributes[.pinMode].flatMap { UInt8(exactly: $0) }.flatMap(PINMode.init)
    let mode = known ?? credentials.lazy.compactMap { $0.policy.understood?.pin?.mode }.first
    let isChecked = mode == .checked
    id = item.id
    name = item.name ?? item.id.hexadecimal
    self.mode = mode
    limit = isChecked ? Int(item.pinLimit) : nil
    attemptsLeft = isChecked ? PINAttempts.left(state, limit: item.pinLimit) : nil
    isBlocked = state.isBlocked
    isMarked = state.needsResync
    hasPendingChange = state.hasPendingOffset
    codesSinceConfirmation = Int(state.unconfirmed)
    uses = state.uses
    self.credentials = credentials.map(\.id)
    self.hasBiokey = hasBiokey && isChecked
    factors = hasBiokey && isChecked ? [.current, .biometric] : .current
  }
}
