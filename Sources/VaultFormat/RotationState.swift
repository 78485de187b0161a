/// How far a rotation of the epoch is; all zero while there is none.
package struct RotationState: Sendable, Equatable {
  package enum Phase: UInt8 {
    /// Items are sealed for the new generation.
    case items
    /// The same, and an item that does not open was left behind.
    case itemsLeft
    /// All items that open are sealed for it; the others wait until somebody restores or removes them.
    case paused
    /// All items are done; the entries of the log are being sealed.
    case audit
  }

  package var phase = Phase.items
  /// The last row that was looked at; in the last phase, the last audit sequence.
  package var position: UInt64 = 0

  package init(phase: Phase = .items, position: UInt64 = 0) {
    self.phase = phase
    self.position = position
  }
}
