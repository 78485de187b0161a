import AgentMessages

/// The signals of the command that the agent was told of, and how long the command waits for what the agent makes of them.
struct PassedSignals: Sendable {
  /// How long the agent has to end the verb after a signal.
  private let patience: Duration
  /// The signal that was passed on first.
  private(set) var first: Int32?
  private var deadline: ContinuousClock.Instant?
  /// The signal came too late: the verb completes.
  var isHeld = false

  init(patience: Duration) { self.patience = patience }

  /// Tells the agent of the signals that are to be read from a descriptor.
  mutating func pass(from descriptor: Int32, over socket: AgentSocket) throws(AgentMessageError) {
    while let number = AgentSignals.next(from: descriptor) {
      if first == nil {
        first = number
        deadline = .now + patience
      }
      try socket.send(AgentSignal(number).packet)
    }
  }

  /// Whether a signal ends the command, so that no person and no server is asked any more.
  var endCommand: Bool { first != nil && !isHeld }

  /// The signal by which the command ends by itself, because the agent has not ended the verb.
  var overdue: Int32? {
    guard let deadline, !isHeld, ContinuousClock.now >= deadline else { return nil }
    return first
  }

  /// For `poll`: -1 waits for ever.
  var timeLeft: Int32 {
    guard let deadline, !isHeld else { return -1 }
    return pollTime(until: deadline)
  }
}

/// For `poll`: in milliseconds, at least until then.
func pollTime(until deadline: ContinuousClock.Instant) -> Int32 {
  let left = (deadline - .now).components
  return Int32(clamping: max(0, left.seconds * 1000 + left.attoseconds / 1_000_000_000_000_000 + 1))
}
