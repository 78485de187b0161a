/// How long a prover has worked without its peer. After too many codes or too much time, it must synchronize first.
package struct OfflineUse: Sendable, Hashable {
  /// Codes made since the last synchronization.
  package private(set) var codes: UInt32
  /// Unix time of the last synchronization, in seconds.
  package private(set) var lastSynchronized: Int64
  /// What to add to the local clock to get the clock of the peer, in seconds; for
  /// ``TimeSteps/correcting(clockOffsetSeconds:)``.
  package private(set) var clockOffsetSeconds: Int64
  /// How many codes may be made without synchronization; `nil` for any number.
  package let maximumCodes: UInt32?
  /// How many seconds may pass without synchronization; `nil` for any time.
  package let maximumAgeSeconds: Int64?

  /// The state as it was stored, or as it is after a first synchronization.
  package init(
    codes: UInt32 = 0, lastSynchronized: Int64, clockOffsetSeconds: Int64 = 0, maximumCodes: UInt32? = nil,
    maximumAgeSeconds: Int64? = nil
  ) {
    self.codes = codes
    self.lastSynchronized = lastSynchronized
    self.clockOffsetSeconds = clockOffsetSeconds
    self.maximumCodes = maximumCodes
    self.maximumAgeSeconds = maximumAgeSeconds
  }

  /// Counts a code that is about to be made.
  ///
  /// A clock that is more than a minute before the last synchronization was set back, and counts as too old.
  /// - Throws: ``OTPError/Code/desynchronized``. Nothing is counted then.
  package mutating func recordCode(at unixTime: Int64) throws(OTPError) {
    if let maximumCodes, codes >= maximumCodes { throw .desynchronized }
    if let maximumAgeSeconds {
      let (age, overflow) = unixTime.subtractingReportingOverflow(lastSynchronized)
      guard !overflow, (-60...max(-60, maximumAgeSeconds)).contains(age) else { throw .desynchronized }
    }
    if codes < .max { codes += 1 }
  }

  /// Records that the peer has been asked.
  package mutating func synchronize(clockOffsetSeconds: Int64, at unixTime: Int64) {
    codes = 0
    lastSynchronized = unixTime
    self.clockOffsetSeconds = clockOffsetSeconds
  }
}
