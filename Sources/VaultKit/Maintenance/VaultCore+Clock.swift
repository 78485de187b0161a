import SealedStorage
package import VaultFormat
import VaultKeys

/// What a vault knows of the time.
package struct VaultClocks: Sendable {
  /// The recorded time, as a commit at this moment would write it.
  package let recorded: Instant
  /// The wall clock.
  package let wall: Instant
  /// A wall clock that a commit saw ahead of the recorded time, and that nothing has agreed with yet.
  package let candidate: Instant?

  /// By how much the wall clock is ahead of the recorded time, in milliseconds.
  package var lead: Int64 {
    wall.milliseconds.subtractingReportingOverflow(recorded.milliseconds).partialValue
  }
}

extension VaultCore {
  package func clocks() throws(VaultError) -> VaultClocks {
    var transaction = try beginReading()
    try transaction.readTime()
    let time = transaction.store.time.risen
    return VaultClocks(recorded: time.time, wall: transaction.store.now, candidate: time.candidate?.wall)
  }

  /// Sets the recorded time back to the wall clock. What had ended stays ended.
  ///
  /// - Returns: What the recorded time was; `nil` if it was not ahead of the wall clock, and nothing was changed.
  /// - Throws: ``VaultError/Code/locked``, ``VaultError/Code/readOnly``.
  package func setClockBack() throws(VaultError) -> Instant? {
    var transaction = try beginWriting()
    let result = try transaction.setClockBack()
    try transaction.commit()
    return result
  }
}

extension WriteTransaction {
  fileprivate mutating func setClockBack() throws(VaultError) -> Instant? {
    try store.refuseShut()
    guard store.keys.isUnlocked else {
      throw VaultError(
        .locked, "the vault is locked", hint: "setting the recorded time back needs the passcode")
    }
    let (before, now) = (head.recorded.time, store.now)
    guard before > now else { return nil }
    head.recorded = RecordedTime(now).withoutBoot
    let seconds = before.milliseconds.subtractingReportingOverflow(now.milliseconds).partialValue / 1000
    try log(AuditNote(operation: .clockReset, detail: "\(seconds) s back"))
    return before
  }
}
