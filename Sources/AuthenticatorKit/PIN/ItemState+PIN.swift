import VaultKit

/// What a PIN item keeps in its state (section 7).
extension ItemState {
  /// The offset of a camouflaged PIN: six digits, each 0–9.
  package var pinOffset: [UInt8] {
    get { Array(bytes[Offset.offset..<Offset.offset + 6]) }
    set { set(newValue, at: Offset.offset, count: 6) }
  }
  /// The offset after a change that the server has not confirmed; `nil` where there is none.
  package var pendingPINOffset: [UInt8]? {
    get { hasPendingOffset ? Array(bytes[Offset.pendingOffset..<Offset.pendingOffset + 6]) : nil }
    set {
      hasPendingOffset = newValue != nil
      set(newValue ?? [], at: Offset.pendingOffset, count: 6)
    }
  }
  /// Whether a change of a camouflaged PIN waits for its confirmation.
  package var hasPendingOffset: Bool {
    get { has(Offset.isPending) }
    set { set(Offset.isPending, newValue) }
  }

  private enum Offset {
    static let offset = 80
    static let pendingOffset = 86
    /// A bit of offset 1.
    static let isPending: UInt8 = 8
  }
}

extension ItemState {
  /// Ends a block and every attempt, also those that a copy may not know of.
  mutating func unlockPIN() {
    isBlocked = false
    needsResync = false
    failures = 0
    attemptsUnderWay = 0
  }
}
