import AgentMessages
import Glibc
import Synchronization
import VaultCommands
import VaultKit

/// One connection of a client. The main thread uses it; ``end()`` is for the thread of its request too.
final class Connection: Sendable {
  let socket: AgentSocket
  /// The process that has connected, looked at when the connection was accepted: its number can be that of another one later. nil for
  /// one that this process does not see.
  let caller: Caller?
  /// Milliseconds since boot at which it was accepted.
  let since: UInt64
  private struct State {
    var link: ClientLink?
    var isGone = false
    var hasEnded = false
  }
  private let state = Mutex(State())

  init(_ socket: AgentSocket, from caller: Caller?, since: UInt64) {
    (self.socket, self.caller, self.since) = (socket, caller, since)
  }

  /// nil before the client has said what it wants, and after its end.
  var link: ClientLink? {
    get { state.withLock { $0.link } }
    set { state.withLock { $0.link = newValue } }
  }

  /// Whether the client has gone, so that nothing comes from it any more.
  var isGone: Bool {
    get { state.withLock { $0.isGone } }
    set { state.withLock { $0.isGone = newValue } }
  }

  /// Whether nothing is left to do, so that it can be closed.
  var hasEnded: Bool { state.withLock { $0.hasEnded } }

  /// Whether it has said nothing yet.
  var isSilent: Bool { state.withLock { $0.link == nil && !$0.hasEnded } }

  /// Whether the client is waited for: it has said nothing yet, or has not sent the descriptors of its request.
  var isAwaited: Bool { isSilent || link?.awaitsStandard == true }

  /// Whether something has come that was not read yet: this process was held up, and not the client.
  var hasInput: Bool {
    var input = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&input, 1, 0) > 0
  }

  /// There is nothing left to do: the request has ended and the client knows how, or there is none.
  func end() {
    // Descriptors that came and were not read would otherwise be closed with the socket, on the main thread.
    socket.end()
    let link = state.withLock { state -> ClientLink? in
      state.hasEnded = true
      defer { state.link = nil }
      return state.link
    }
    // Not ended under the lock.
    withExtendedLifetime(link) {}
  }
}
