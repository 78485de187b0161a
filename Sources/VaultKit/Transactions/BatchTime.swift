import VaultFormat

/// The time that a batch of a rotation may take. The clock of the environment measures it, so that a test can let time stand.
struct BatchTime {
  private let clock: any VaultClock
  private let start: UInt64
  /// In milliseconds.
  private let most: UInt64

  /// A batch that begins now.
  init(_ most: Duration, by clock: any VaultClock) {
    self.clock = clock
    start = clock.bootMilliseconds()
    self.most = UInt64(most / .milliseconds(1))
  }

  /// Whether the batch must end, because others wait.
  var isOver: Bool { elapsed > most }

  /// How many rows a batch can have that is as fast as this one.
  ///
  /// - Parameter rows: The number of rows that took the time from the beginning until now.
  func fitting(_ rows: Int) -> Int { Int(Double(rows) * Double(most) / Double(max(elapsed, 1))) }

  private var elapsed: UInt64 { max(clock.bootMilliseconds(), start) - start }
}
