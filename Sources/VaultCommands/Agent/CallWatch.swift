import AgentMessages
import CLinux
import Dispatch
import Glibc
import Synchronization
import VaultKit

/// Reads the socket while a person is asked, so that the prompt ends when its answer is no longer wanted, or the agent is gone.
final class CallWatch: Sendable {
  private struct State {
    var isHeld = false
    var fault: AgentMessageError?
  }

  private let socket: AgentSocket
  private let number: Int64
  private let ending = PromptEnding()
  /// The end of the watch is a byte in it.
  private let wake: (reading: Int32, writing: Int32)
  private let state = Mutex(State())
  private let ended = DispatchSemaphore(value: 0)

  /// Runs `body`, which asks a person for the call of this number.
  ///
  /// - Returns: What `body` returns, and whether the agent said meanwhile that a signal came too late.
  /// - Throws: What `body` throws, or why the connection is of no more use.
  static func during<R>(
    _ number: Int64, on socket: AgentSocket, isCancelled: Bool,
    _ body: (PromptEnding) throws(AgentMessageError) -> R
  ) throws(AgentMessageError) -> (result: R, isHeld: Bool) {
    let watch = try CallWatch(socket, number)
    if isCancelled { watch.ending.end() }
    watch.start()
    let result: Result<R, AgentMessageError>
    do throws(AgentMessageError) { result = .success(try body(watch.ending)) } catch {
      result = .failure(error)
    }
    let state = watch.stop()
    if let fault = state.fault { throw fault }
    return (try result.get(), state.isHeld)
  }

  private init(_ socket: AgentSocket, _ number: Int64) throws(AgentMessageError) {
    var ends: [Int32] = [-1, -1]
    guard unsafe clinux_pipe(&ends) == 0 else { throw .failed(errno) }
    (self.socket, self.number, wake) = (socket, number, (ends[0], ends[1]))
  }

  deinit {
    close(wake.reading)
    close(wake.writing)
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
      var waits = [
        pollfd(fd: wake.reading, events: Int16(POLLIN), revents: 0),
        pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0),
      ]
      guard unsafe poll(&waits, 2, -1) >= 0 || errno == EINTR else { throw .failed(errno) }
      if waits[1].revents != 0, let packet = try socket.receive(waits: false) { try take(packet) }
      if waits[0].revents != 0 { return }
    }
  }

  private func take(_ packet: AgentPacket) throws(AgentMessageError) {
    switch packet.kind {
    case .cancel: if try AgentCancel(packet).number >= number { ending.end() }
    case .held: state.withLock { $0.isHeld = true }
    default: throw .unexpected(packet.kind)
    }
  }
}
