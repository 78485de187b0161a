/// The progress of a rotation of the epoch; all zero while there is no rotation.
package struct RotationState: Sendable, Equatable {
  package enum Phase: UInt8 {
    /// Items are sealed for the new generation.
    case items
    /// Like `items`, and an item that does not open was left behind.
    case itemsLeft
    /// All items that open are sealed for the new generation; the others wait until a person restores or removes them.
    case paused
    /// All items are done; the entries of the log are being sealed.
    case audit
  }

  package var phase = Phase.items
  /// The last row that was processed; in the last phase, the last audit sequence.
  package var position: UInt64 = 0

  package init(phase: Phase = .items, position: UInt64 = 0) {
    self.phase = phase
    self.position = position
  }
}
