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
  private var passed: PassedSignals
  /// The largest number of a call that was cancelled, which can be that of the next one.
  private var cancelled: Int64 = 0
  private var hasCalled = false

  init(_ socket: AgentSocket, server: CallServer, signals: AgentSignals, patience: Duration) {
    (self.socket, self.server, self.signals) = (socket, server, signals)
    passed = PassedSignals(patience: patience)
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
      let ready = unsafe poll(&waits, 2, passed.timeLeft)
      guard ready >= 0 || errno == EINTR else { throw .failed(errno) }
      try passed.pass(from: signals.descriptor, over: socket)
      if let packet = try socket.receive(waits: false), let end = try take(packet) { return end }
      if let signal = passed.overdue { return .signalled(signal) }
    }
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
    case .held: passed.isHeld = true
    default: throw .unexpected(packet.kind)
    }
    return nil
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
