import AgentMessages
import Foundation
import TestSupport
import Testing

@Suite("Packets between a command and the agent", .bounded, .requirement("G8"))
struct AgentSocketTests {
  @Test("a packet arrives as it was sent, with its descriptors close-on-exec")
  func roundTrip() throws {
    let (command, agent) = try AgentSocket.pair()
    let file = try CountedFile(openings: 3)
    let run = AgentRun(version: "1", words: ["get", "mail"])
    try command.send(run.packet(AgentDescriptors(lending: file.descriptors)))
    let packet = try #require(try agent.receive())
    try expect(AgentRun(packet).words, equals: ["get", "mail"])
    let came = packet.descriptors.take()
    defer { for descriptor in came { close(descriptor) } }
    expect(came.count, equals: 3)
    #expect(came.allSatisfy { fcntl($0, F_GETFD) & FD_CLOEXEC != 0 })
    try expect(descriptors(of: file.path), equals: 6)
  }

  /// An end whose receiver counts what it closes.
  private static func end(counting closed: Counter) throws -> RawEnd {
    try RawEnd { descriptor in
      closed.add()
      close(descriptor)
    }
  }

  @Test("descriptors that nothing takes are closed with their packet, in the way of the receiver")
  func untaken() throws {
    let file = try CountedFile(openings: 3)
    let closed = Counter()
    let end = try Self.end(counting: closed)
    end.send([1, 3], descriptors: file.descriptors)
    _ = try end.socket.receive(waits: false)
    expect(closed.count, equals: 3)
    try expect(descriptors(of: file.path), equals: 3)
  }

  @Test("an empty packet and the end of the other process look the same: gone")
  func empty() throws {
    let end = try RawEnd()
    end.send([])
    end.receives(.gone)
    let (command, agent) = try AgentSocket.pair()
    command.finish()
    #expect(throws: AgentMessageError.gone) { try agent.receive() }
    #expect(throws: AgentMessageError.gone) { try agent.send(AgentHeld.packet) }
  }

  @Test("without waiting there is no packet, and none is invented")
  func none() throws {
    let end = try RawEnd()
    let packet = try end.socket.receive(waits: false)
    #expect(withExtendedLifetime(end) { packet == nil })
  }

  @Test("a packet of 64 KiB arrives, one of a byte more does not, and none can be sent")
  func longest() throws {
    let end = try RawEnd()
    end.send([66, 0] + [UInt8](repeating: 0, count: (64 << 10) - 2))
    try expect(#require(try end.socket.receive(waits: false)).kind, equals: .call)
    end.send([UInt8](repeating: 66, count: 64 << 10 + 1))
    end.receives(.tooLong)
    let (command, _) = try AgentSocket.pair()
    let run = AgentRun(version: "1", words: [String(repeating: "x", count: 64 << 10)])
    #expect(throws: AgentMessageError.tooLong) { try command.send(run.packet(AgentDescriptors())) }
  }

  @Test(
    "a packet whose first bytes are wrong is refused",
    arguments: [
      ([1], .wrongLength), ([0, 0], .unknownType(0)), ([2, 1], .wrongDescriptors), ([9, 0], .unknownType(9)),
      ([1, 0], .wrongDescriptors), ([66, 255], .wrongDescriptors),
    ] as [([UInt8], AgentMessageError)])
  func wrongBeginning(bytes: [UInt8], error: AgentMessageError) throws {
    let end = try RawEnd()
    end.send(bytes)
    end.receives(error)
  }

  @Test(
    "more or fewer descriptors than a message says or has are refused, and all of them are closed",
    arguments: [(1, 3, 2), (1, 2, 2), (2, 0, 1), (2, 2, 2), (3, 1, 1), (1, 8, 8), (4, 0, 0), (4, 2, 2)])
  func wrongDescriptors(type: Int, said: Int, sent: Int) throws {
    let file = try CountedFile(openings: sent)
    let end = try RawEnd()
    expect(end.send([UInt8(type), UInt8(said)], descriptors: file.descriptors), equals: 0)
    end.receives(.wrongDescriptors)
    try expect(descriptors(of: file.path), equals: sent)
  }

  @Test(
    "as many descriptors as the kernel passes are refused, and none of them stays open", arguments: [9, 253])
  func manyDescriptors(count: Int) throws {
    let file = try CountedFile(openings: 1)
    let end = try RawEnd()
    expect(end.flood([1, 3], with: file.descriptors[0], times: count), equals: 0)
    end.receives(.wrongDescriptors)
    try expect(descriptors(of: file.path), equals: 1)
  }

  @Test("a socket that ends closes the descriptors that nothing has read, in the way of the receiver")
  func unread() throws {
    let file = try CountedFile(openings: 3)
    let closed = Counter()
    let end = try Self.end(counting: closed)
    end.send([1, 3], descriptors: file.descriptors)
    end.send([9])
    end.send([UInt8](repeating: 66, count: 64 << 10 + 1), descriptors: file.descriptors)
    end.socket.end()
    expect(closed.count, equals: 6)
    try expect(descriptors(of: file.path), equals: 3)
    end.receives(.gone)
  }

  @Test("what an end has sent is read before its end is seen, whatever it left unread")
  func endWithUnread() throws {
    var ends = [try AgentSocket.pair()]
    let command = ends[0].1
    try command.send(AgentSignal(15).packet)
    try ends[0].0.send(AgentBegun.packet)
    ends = []
    try expect(command.receive(waits: false)?.kind, equals: .begun)
    #expect(throws: AgentMessageError.gone) { try command.receive(waits: false) }
  }

  @Test("the kernel names the process at the other end")
  func peer() throws {
    let peer = try #require(AgentSocket.pair().0.peer)
    expect(peer.process, equals: getpid())
    expect(peer.user, equals: geteuid())
  }
}
