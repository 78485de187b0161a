import AgentMessages
import CLinux
import Glibc
import VaultCommands
import VaultKit
import VaultWords

/// The main thread of the agent: accepts connections, hands the packets of clients over to their requests, and ends leases.
///
/// It waits in one `poll`. It never waits for a client, a file of a vault or a key: each request has a thread of its own, which also reads
/// what the client asks for, looks at its descriptors and closes them. The only path at which it looks is that of its own socket.
package final class AgentLoop {
  private let service: AgentService
  private var listening: ListeningSocket?
  private let timer: BootTimer?
  private let mostConnections: Int
  private var connections: [Connection] = []
  /// Whether nothing is accepted for a moment: the process has no descriptor left, and poll would wake it again and again.
  private var isFull = false
  /// Given up for a client that is told that no descriptor is left; -1 while it is.
  private var spare: Int32 = openSpare()
  /// How often it has waited since it was told to stop; nil before that.
  private var endingTurns: Int?
  /// When it last looked whether commands still find its socket, in milliseconds since boot.
  private var looked: UInt64 = 0

  /// - Parameters:
  ///   - timer: Wakes it at the end of a lease; nil where the clock is that of a test, which calls ``turn(waits:)``.
  ///   - mostConnections: ``usualConnections``; a test has fewer.
  package init(
    _ service: AgentService, listeningOn listening: ListeningSocket, timer: BootTimer?,
    mostConnections: Int = usualConnections
  ) {
    self.service = service
    self.timer = timer
    self.mostConnections = mostConnections
    self.listening = listening
    looked = now
  }

  deinit { if spare >= 0 { close(spare) } }

  /// Whether the agent was told to stop and no request is left, or those that are left have had their time.
  package var isDone: Bool {
    guard let endingTurns else { return false }
    return connections.isEmpty || endingTurns >= Self.mostEndingTurns
  }

  /// The connections that are open.
  package var connectionCount: Int { connections.count }

  /// The requests that run.
  package var requestCount: Int { connections.count { $0.link != nil } }
  /// The connections whose clients are gone, while their requests run.
  package var goneCount: Int { connections.count { $0.isGone } }

  /// Does what is to be done now.
  ///
  /// - Parameter waits: Whether to wait until there is something.
  package func turn(waits: Bool = true) {
    service.becomeMain()
    var waited = polled()
    let isReady = unsafe poll(&waited, nfds_t(waited.count), waits ? pollTime : 0) > 0
    isFull = false
    service.wake.clear()
    if isReady {
      for (connection, answer) in zip(connections, waited.dropFirst(Self.fixed)) where answer.revents != 0 {
        read(connection)
      }
      if waited[2].revents != 0 { accept() }
    }
    settle()
  }

  private var now: UInt64 { service.world.vault.clock.bootMilliseconds() }
  private var isEnding: Bool { endingTurns != nil }
  /// While it ends, it does not wait for what may never come.
  private var pollTime: Int32 { isEnding || isFull ? 100 : -1 }

  private func polled() -> [pollfd] {
    let events = Int16(POLLIN)
    return [
      pollfd(fd: service.wake.descriptor, events: events, revents: 0),
      pollfd(fd: timer?.descriptor ?? -1, events: events, revents: 0),
      pollfd(fd: isFull ? -1 : listening?.descriptor ?? -1, events: events, revents: 0),
    ] + connections.map { pollfd(fd: $0.isGone ? -1 : $0.socket.descriptor, events: events, revents: 0) }
  }

  /// The descriptors before those of the connections.
  private static let fixed = 3
  /// As many requests as there can be, and as many connections as are not closed to make room.
  package static let usualConnections = 256
  /// So many more for the requests that are about the agent itself.
  package static let reserve = 8
  /// How often it looks whether commands still find its socket, while nothing else wakes it.
  package static let lookMilliseconds: UInt64 = 60_000
  /// How often at most.
  private static let leastLookMilliseconds: UInt64 = 1000
  /// How long a connection may say nothing.
  package static let silenceMilliseconds: UInt64 = 5000
  /// How many times it waits for requests when it was told to stop, a tenth of a second each: their vaults are locked.
  private static let mostEndingTurns = 20
}

// MARK: What follows a turn

extension AgentLoop {
  /// Removes what has ended, ends leases and silent connections, and sets the timer.
  private func settle() {
    connections.removeAll { $0.hasEnded }
    if let endingTurns { self.endingTurns = endingTurns + 1 }
    endIfLost()
    if service.hasToStop, !isEnding { beginEnd() }
    let (leaseEnd, grantEnd) = (service.vaults.endLeases(), service.vaults.grants.endOver())
    let now = now
    for connection in connections
    where connection.isAwaited && now >= connection.since + Self.silenceMilliseconds && !connection.hasInput {
      refuse(connection, .silent)
    }
    connections.removeAll { $0.hasEnded }
    let silenceEnd = connections.lazy.filter(\.isAwaited).map { $0.since + Self.silenceMilliseconds }.min()
    let nextLook = listening?.isOwn == true ? looked + Self.lookMilliseconds : nil
    timer?.set([leaseEnd, grantEnd, silenceEnd, nextLook].compactMap(\.self).min())
  }

  /// Has the agent end when no command finds its socket any more: no command could lock its vaults, and it would keep another agent from
  /// starting.
  private func endIfLost() {
    let now = now
    guard let listening, !service.hasToStop, now >= looked + Self.leastLookMilliseconds else { return }
    looked = now
    if !listening.isFound { service.stop() }
  }

  /// Takes no more requests, and ends the prompts of those that run. Their vaults are locked. A client
  /// that has already connected is told so, and works without an agent.
  private func beginEnd() {
    endingTurns = 0
    listening?.hide()
    accept()
    listening = nil
    service.becameUnreachable()
    for connection in connections where connection.isSilent { refuse(connection, .ending) }
    for connection in connections { connection.link?.agentEnds() }
  }
}

// MARK: Connections

extension AgentLoop {
  private func accept() {
    while let listening {
      let descriptor = clinux_accept(listening.descriptor)
      guard descriptor >= 0 else {
        guard errno == EMFILE || errno == ENFILE else { return }
        guard closeLongestSilent() || refuseOne(from: listening) else {
          isFull = true
          return
        }
        continue
      }
      guard let connection = connection(descriptor) else { continue }
      let most = mostConnections
      guard connections.count < most || closeLongestSilent() || connections.count < most + Self.reserve else {
        refuse(connection, .tooManyCommands)
        continue
      }
      connections.append(connection)
    }
  }

  /// - Returns: nil for a process of another user.
  private func connection(_ descriptor: Int32) -> Connection? {
    let service = service
    let socket = AgentSocket(owning: descriptor) { service.close($0) }
    guard let peer = socket.peer, peer.user == service.client else { return nil }
    return Connection(socket, from: try? Caller(peerOf: descriptor), since: now)
  }

  /// Takes the next client by the spare descriptor, and tells it why nothing is done for it.
  ///
  /// - Returns: Whether there was one.
  private func refuseOne(from listening: ListeningSocket) -> Bool {
    guard spare >= 0 else {
      spare = Self.openSpare()
      return spare >= 0
    }
    close(spare)
    let descriptor = clinux_accept(listening.descriptor)
    if descriptor >= 0, let connection = connection(descriptor) { refuse(connection, .noDescriptors) }
    // The descriptor of the client is closed by now.
    spare = Self.openSpare()
    return descriptor >= 0
  }

  private static func openSpare() -> Int32 { unsafe open("/dev/null", O_RDONLY | O_CLOEXEC) }

  /// Makes room: a client says what it wants at once. One whose request has come, and was not read yet, is not silent.
  private func closeLongestSilent() -> Bool {
    guard let index = connections.firstIndex(where: { $0.isSilent && !$0.hasInput }) else { return false }
    refuse(connections.remove(at: index), .silent)
    return true
  }

  private func read(_ connection: Connection) {
    do throws(AgentMessageError) {
      guard let packet = try connection.socket.receive(waits: false) else { return }
      if let link = connection.link { try link.received(packet) } else { begin(packet, on: connection) }
    } catch AgentMessageError.failed(EMFILE) where connection.isAwaited {
      refuse(connection, .noDescriptors)
    } catch { end(connection) }
  }

  /// The client is gone, or what it says makes no sense. Its request ends before its commit.
  private func end(_ connection: Connection) {
    guard let link = connection.link else { return connection.end() }
    connection.isGone = true
    connection.socket.finish()
    link.gone()
  }

  /// Has a thread of its own read the request, and run it.
  private func begin(_ packet: AgentPacket, on connection: Connection) {
    let service = service
    let isInReserve = requestCount >= mostConnections
    let interruption = Interruption { [socket = connection.socket] in socket.hasPeer }
    let link = ClientLink(connection.socket, interruption: interruption) { service.vaults.holds($0) }
    connection.link = link
    let caller = connection.caller
    let code = startThread {
      AgentRequest.serve(packet, from: caller, over: link, isInReserve: isInReserve, in: service)
      connection.end()
      service.wake.signal()
    }
    guard code != 0 else { return }
    connection.link = nil
    refuse(connection, .noThread)
  }

  /// Tells a client that nothing is done for it. A request that waits for its descriptors ends.
  private func refuse(_ connection: Connection, _ refusal: AgentRefusal) {
    try? connection.socket.send(refusal.packet, waits: false)
    end(connection)
  }
}
