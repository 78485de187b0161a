import AgentMessages
import Glibc
import VaultKit
import VaultPrompts

/// The command's end of the connection: it passes on signals and answers calls until the verb has ended in the agent.
final class AgentSession {
  /// How it ended.
  enum End {
    case refused(AgentRefusal)
    /// The agent did not take the request, and does not take it any more.
    case notTaken(Untaken)
    case ended(AgentEnding)
    /// The agent did not say how the verb ended within the time that a command has after a signal.
    case signalled(Int32)
  }

  /// Why a request was not taken.
  enum Untaken {
    /// The agent has ended the connection: it has ended, as far as the command sees.
    case ended
    /// The agent has ended the connection, and still listens.
    case dropped
    /// The agent did not answer within the time that it has for it.
    case silent
  }

  /// How far the request is.
  private enum Stage {
    /// The agent has not said that it takes the request.
    case sent
    /// It has, and has got the descriptors of the command.
    case lent
    /// The verb has done something.
    case running
  }

  private let socket: AgentSocket
  /// Standard input, output and error of the command.
  private let standard: [Int32]
  private let server: CallServer
  private let signals: AgentSignals
  private var passed: PassedSignals
  /// The largest number of a call that was cancelled, which can be that of the next one.
  private var cancelled: Int64 = 0
  private var stage = Stage.sent
  /// When the request is taken back.
  private let deadline: ContinuousClock.Instant

  /// - Parameter standard: Standard input, output and error of the command, which stay the caller's.
  init(
    _ socket: AgentSocket, lending standard: [Int32], server: CallServer, signals: AgentSignals,
    patience: Patience
  ) {
    (self.socket, self.standard, self.server, self.signals) = (socket, standard, server, signals)
    passed = PassedSignals(patience: .seconds(patience.afterSignal))
    deadline = .now + patience.agent
  }

  /// The signal that was passed on first.
  var signal: Int32? { passed.first }

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
      do throws(AgentMessageError) {
        // The other end can have said how the verb ended, and be gone.
        do throws(AgentMessageError) { try passed.pass(from: signals.descriptor, over: socket) } catch .gone {
        }
        if let end = try next() { return end }
        if let signal = passed.overdue { return .signalled(signal) }
        if stage == .sent, ContinuousClock.now >= deadline { return try untaken(.silent) }
      } catch .gone where stage == .sent { return try untaken(.ended) }
    }
  }

  /// The request could not be sent. The agent can have said why before it ended the connection.
  func unsent() throws(AgentMessageError) -> End { try untaken(.ended) }

  /// For `poll`.
  private var timeLeft: Int32 {
    guard stage == .sent else { return passed.timeLeft }
    let left = pollTime(until: deadline)
    return passed.timeLeft < 0 ? left : min(left, passed.timeLeft)
  }

  private func next() throws(AgentMessageError) -> End? {
    guard let packet = try socket.receive(waits: false) else { return nil }
    return try take(packet)
  }

  /// The request is taken back, or the agent is gone: after this it does nothing for it, because it does not get the descriptors of the
  /// command any more. What it had sent before is read.
  private func untaken(_ why: Untaken) throws(AgentMessageError) -> End {
    socket.finish()
    while true {
      do throws(AgentMessageError) { if let end = try next() { return end } } catch .gone {
        return .notTaken(why)
      }
    }
  }

  /// - Returns: The end, if the packet is one.
  private func take(_ packet: AgentPacket) throws(AgentMessageError) -> End? {
    switch packet.kind {
    case .refused where stage != .running: return .refused(try AgentRefusal(packet))
    case .begun where stage == .sent: try lend()
    // An agent of another protocol sends it as the only packet.
    case .ended: return .ended(try AgentEnding(packet))
    case .call where stage != .sent:
      stage = .running
      try answer(AgentCall(packet))
    // It can come after the reply that it crossed.
    case .cancel: cancelled = max(cancelled, try AgentCancel(packet).number)
    case .held: passed.isHeld = true
    default: throw .unexpected(packet.kind)
    }
    return nil
  }

  /// - Throws: ``AgentMessageError/gone`` if the agent has not got them.
  private func lend() throws(AgentMessageError) {
    try socket.send(AgentStandard.packet(AgentDescriptors(lending: standard)))
    stage = .lent
  }

  private func answer(_ call: AgentCall) throws(AgentMessageError) {
    guard call.kind.isCancellable else {
      try socket.send(server.reply(to: call, until: PromptEnding()).packet)
      return
    }
    let watch = try CallWatch(
      call.number, on: socket, after: passed, signals: call.kind.asksPerson ? nil : signals.descriptor)
    // After a signal nothing is waited for: the command ends.
    if call.number <= cancelled || passed.endCommand { watch.ending.end() }
    let reply: AgentReply
    (reply, passed) = try watch.during { ending throws(AgentMessageError) in
      try server.reply(to: call, until: ending)
    }
    try socket.send(reply.packet)
  }
}
