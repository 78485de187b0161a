import AgentMessages
import CLinux
import Glibc
import VaultCommands
import VaultKit
import VaultWords

/// The main thread of the agent: accepts connections, hands the packets of clients over to their requests, and ends leases.
///
/// It waits in one `poll`. It never waits for a client, a file or a key: each request has a thread of its own.
package final class AgentLoop {
  private let service: AgentService
  private var listening: ListeningSocket?
  private let timer: BootTimer?
  private var connections: [Connection] = [] {
    didSet { if connections.count < oldValue.count { isFull = false } }
  }
  /// Whether nothing is accepted until a connection ends: the process has no descriptor left.
  private var isFull = false
  /// How often it has waited since it was told to stop; nil before that.
  private var endingTurns: Int?

  /// - Parameter timer: Wakes it at the end of a lease; nil where the clock is that of a test, which calls ``turn(waits:)``.
  package init(
    _ service: AgentService, listeningOn listening: ListeningSocket, timer: BootTimer?
  ) {
    self.service = service
    self.timer = timer
    self.listening = listening
  }

  /// Whether the agent was told to stop and no request is left, or those that are left have had their time.
  package var isDone: Bool {
    guard let endingTurns else { return false }
    return connections.isEmpty || endingTurns >= Self.mostEndingTurns
  }

  /// The connections that are open.
  package var connectionCount: Int { connections.count }

  /// The requests that run.
  package var requestCount: Int { connections.count { $0.request != nil } }
  /// The connections whose clients are gone, while their requests run.
  package var goneCount: Int { connections.count { $0.isGone } }

  /// Does what is to be done now.
  ///
  /// - Parameter waits: Whether to wait until there is something.
  package func turn(waits: Bool = true) {
    var waited = polled()
    let isReady = unsafe poll(&waited, nfds_t(waited.count), waits ? pollTime : 0) > 0
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
  private var pollTime: Int32 { isEnding ? 100 : -1 }

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
  /// As many connections as there can be.
  package static let mostConnections = 256
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
    if service.hasToStop, !isEnding { beginEnd() }
    let leaseEnd = service.vaults.endLeases()
    let now = now
    connections.removeAll { $0.isSilent && now >= $0.since + Self.silenceMilliseconds && !$0.hasInput }
    let silenceEnd = connections.lazy.filter(\.isSilent).map { $0.since + Self.silenceMilliseconds }.min()
    timer?.set([leaseEnd, silenceEnd].compactMap(\.self).min())
  }

  /// Takes no more requests, and ends the prompts of those that run. Their vaults are locked.
  private func beginEnd() {
    endingTurns = 0
    listening = nil
    service.becameUnreachable()
    connections.removeAll { $0.isSilent }
    for connection in connections { connection.request?.link.cancel() }
  }
}

// MARK: Connections

extension AgentLoop {
  private func accept() {
    while let listening {
      let descriptor = clinux_accept(listening.descriptor)
      guard descriptor >= 0 else {
        guard errno == EMFILE || errno == ENFILE else { return }
        if closeLongestSilent() { continue }
        // Without a free descriptor, poll would wake it again and again.
        isFull = !connections.isEmpty
        return
      }
      let service = service
      let socket = AgentSocket(owning: descriptor) { service.close($0) }
      guard let peer = socket.peer, peer.user == geteuid() else { continue }
      guard connections.count < Self.mostConnections || closeLongestSilent() else {
        try? socket.send(AgentRefusal(.full, "the agent serves too many commands").packet, waits: false)
        continue
      }
      connections.append(Connection(socket, since: now))
    }
  }

  /// Makes room: a client says what it wants at once.
  private func closeLongestSilent() -> Bool {
    guard let index = connections.firstIndex(where: \.isSilent) else { return false }
    connections.remove(at: index)
    return true
  }

  private func read(_ connection: Connection) {
    do throws(AgentMessageError) {
      guard let packet = try connection.socket.receive(waits: false) else { return }
      if let request = connection.request {
        try request.link.received(packet)
      } else {
        try begin(packet, on: connection)
      }
    } catch { end(connection) }
  }

  /// The client is gone, or what it says makes no sense. Its request ends before its commit.
  private func end(_ connection: Connection) {
    connection.isGone = true
    connection.socket.finish()
    guard let request = connection.request else {
      connection.finished()
      return
    }
    request.link.gone()
  }

  private func begin(_ packet: AgentPacket, on connection: Connection) throws(AgentMessageError) {
    let run = try AgentRun(packet)
    let service = service
    let numbers = packet.descriptors.take()
    let descriptors = AgentDescriptors(owning: numbers) { service.close($0) }
    if let refusal = service.refusal(of: run, descriptors: numbers, isEnding: isEnding) {
      return try refuse(connection, refusal)
    }
    guard let caller = try? Caller(peerOf: connection.socket.descriptor) else {
      return try refuse(connection, AgentRefusal(.verb, "the agent does not see the process of the command"))
    }
    let interruption = Interruption { [socket = connection.socket] in socket.hasPeer }
    let link = ClientLink(connection.socket, interruption: interruption) { service.vaults.holds($0) }
    let request = AgentRequest(
      run, numbers: numbers, of: descriptors, for: caller, over: link, interruption: interruption)
    connection.request = request
    let code = startThread {
      request.serve(in: service)
      connection.finished()
      service.wake.signal()
    }
    if code != 0 { try refuse(connection, AgentRefusal(.full, "the agent can begin no more threads")) }
  }

  private func refuse(_ connection: Connection, _ refusal: AgentRefusal) throws(AgentMessageError) {
    connection.finished()
    try connection.socket.send(refusal.packet, waits: false)
  }
}
