import AgentMessages
import Glibc
import VaultKit
import VaultPrompts

/// The command's end of the connection: it passes on signals and answers calls until the verb has ended in the agent.
final class AgentSession {
  /// How it ended.
  enum End {
    case refused(AgentRefusal)
    case ended(AgentEnding)
    /// The agent did not say how the verb ended within the time that a command has after a signal.
    case signalled(Int32)
  }

  private let socket: AgentSocket
  private let server: CallServer
  private let signals: AgentSignals
  /// How long the agent has to end the verb after a signal.
  private let patience: Duration
  /// The signal that was passed on first.
  private var signal: Int32?
  private var deadline: ContinuousClock.Instant?
  /// The signal came too late: the verb completes.
  private var isHeld = false
  /// The largest number of a call that was cancelled, which can be that of the next one.
  private var cancelled: Int64 = 0
  private var hasCalled = false

  init(_ socket: AgentSocket, server: CallServer, signals: AgentSignals, patience: Duration) {
    (self.socket, self.server, self.signals, self.patience) = (socket, server, signals, patience)
  }

  /// Serves until the end.
  ///
  /// - Throws: Why there is none: the agent is gone, or sent what cannot come.
  func serve() throws(AgentMessageError) -> End {
    while true {
      var waits = [
        pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0),
      ]
      let ready = unsafe poll(&waits, 2, timeLeft)
      guard ready >= 0 || errno == EINTR else { throw .failed(errno) }
      while let number = signals.next() { try pass(number) }
      if let packet = try socket.receive(waits: false), let end = try take(packet) { return end }
      if let signal, let deadline, !isHeld, ContinuousClock.now >= deadline { return .signalled(signal) }
    }
  }

  private func pass(_ number: Int32) throws(AgentMessageError) {
    if signal == nil {
      signal = number
      deadline = .now + patience
    }
    try socket.send(AgentSignal(number).packet)
  }

  /// For `poll`: -1 waits for ever.
  private var timeLeft: Int32 {
    guard let deadline, !isHeld else { return -1 }
    let left = (deadline - .now).components
    return Int32(clamping: max(0, left.seconds * 1000 + left.attoseconds / 1_000_000_000_000_000 + 1))
  }

  /// - Returns: The end, if the packet is one.
  private func take(_ packet: AgentPacket) throws(AgentMessageError) -> End? {
    switch packet.kind {
    case .refused where !hasCalled: return .refused(try AgentRefusal(packet))
    case .ended: return .ended(try AgentEnding(packet))
    case .call:
      hasCalled = true
      try answer(AgentCall(packet))
    // It can come after the reply that it crossed.
    case .cancel: cancelled = max(cancelled, try AgentCancel(packet).number)
    case .held: isHeld = true
    default: throw .unexpected(packet.kind)
    }
    return nil
  }

  private func answer(_ call: AgentCall) throws(AgentMessageError) {
    guard call.kind.asksPerson else {
      try socket.send(server.reply(to: call, until: PromptEnding()).packet)
      return
    }
    // After a signal no person is asked: the command ends.
    let isCancelled = call.number <= cancelled || signal != nil && !isHeld
    let (reply, cameTooLate) = try CallWatch.during(call.number, on: socket, isCancelled: isCancelled) {
      ending throws(AgentMessageError) in try server.reply(to: call, until: ending)
    }
    if cameTooLate { isHeld = true }
    try socket.send(reply.packet)
  }
}
