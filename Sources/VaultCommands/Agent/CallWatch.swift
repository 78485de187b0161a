import AgentMessages
import CLinux
import Dispatch
import Glibc
import Synchronization
import VaultKit

/// Reads the socket while a person or a server is waited for, so that the call ends when its answer is no longer wanted, or the agent is
/// gone. While a server is waited for, it also passes on signals; a prompt has them itself.
final class CallWatch: Sendable {
  private struct State {
    var passed: PassedSignals
    var fault: AgentMessageError?
  }

  let ending = PromptEnding()
  private let socket: AgentSocket
  private let number: Int64
  /// Where signals are read; -1 for nowhere, as `poll` has it.
  private let signals: Int32
  /// The end of the watch is a byte in it.
  private let wake: (reading: Int32, writing: Int32)
  private let state: Mutex<State>
  private let ended = DispatchSemaphore(value: 0)

  /// - Parameter signals: Where signals are read; nil if they are not to be.
  init(
    _ number: Int64, on socket: AgentSocket, after passed: PassedSignals, signals: Int32?
  ) throws(AgentMessageError) {
    var ends: [Int32] = [-1, -1]
    guard unsafe clinux_pipe(&ends) == 0 else { throw .failed(errno) }
    (self.socket, self.number, wake) = (socket, number, (ends[0], ends[1]))
    self.signals = signals ?? -1
    state = Mutex(State(passed: passed))
  }

  deinit {
    close(wake.reading)
    close(wake.writing)
  }

  /// Runs `body`, which answers the call.
  ///
  /// - Returns: What `body` returns, and the signals that were passed on until now.
  /// - Throws: What `body` throws, or why the connection is of no more use.
  func during<R>(
    _ body: (PromptEnding) throws(AgentMessageError) -> R
  ) throws(AgentMessageError) -> (result: R, passed: PassedSignals) {
    start()
    let result: Result<R, AgentMessageError>
    do throws(AgentMessageError) { result = .success(try body(ending)) } catch { result = .failure(error) }
    let state = stop()
    if let fault = state.fault { throw fault }
    return (try result.get(), state.passed)
  }

  private func start() {
    DispatchQueue.global().async { [self] in
      do throws(AgentMessageError) { try watch() } catch {
        state.withLock { $0.fault = error }
        ending.end()
      }
      ended.signal()
    }
  }

  private func stop() -> State {
    var byte: UInt8 = 0
    _ = unsafe write(wake.writing, &byte, 1)
    ended.wait()
    return state.withLock { $0 }
  }

  private func watch() throws(AgentMessageError) {
    while true {
      var waits = [wake.reading, socket.descriptor, signals].map {
        pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
      }
      let time = ending.isEnded ? -1 : state.withLock { $0.passed.timeLeft }
      guard unsafe poll(&waits, 3, time) >= 0 || errno == EINTR else { throw .failed(errno) }
      if waits[1].revents != 0, let packet = try socket.receive(waits: false) { try take(packet) }
      if signals >= 0 { try passSignals() }
      if waits[0].revents != 0 { return }
    }
  }

  /// The agent cancels the call that a signal ends. If it says nothing, the command ends by itself.
  private func passSignals() throws(AgentMessageError) {
    let isOverdue = try state.withLock { (state) throws(AgentMessageError) in
      try state.passed.pass(from: signals, over: socket)
      return state.passed.overdue != nil
    }
    if isOverdue { ending.end() }
  }

  private func take(_ packet: AgentPacket) throws(AgentMessageError) {
    switch packet.kind {
    case .cancel: if try AgentCancel(packet).number >= number { ending.end() }
    case .held: state.withLock { $0.passed.isHeld = true }
    default: throw .unexpected(packet.kind)
    }
  }
}
