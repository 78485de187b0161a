import AgentMessages
import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultAgent
import VaultCommands
import VaultKit
import VaultTestKit

/// What the agent does with connections and requests: the real loop, and clients in the same process.
@Suite("The agent", .bounded)
struct AgentLoopTests {
  @Test(
    "after one unlock, commands ask nothing, print on the client's own descriptors, and the log has one unlock",
    .requirement("G1")
  )
  func unlockOnce() throws {
    let rig = try AgentRig()
    let unlock = try rig.run("unlock", passcode: "1234")
    #expect(unlock.ending == .exit(0) && unlock.prompts == 1, "\(unlock)")
    for _ in 0..<5 {
      let got = try rig.run("get", "mail")
      #expect(got.ending == .exit(0) && got.text == "tok-1" && got.prompts == 0, "\(got)")
    }
    let unlocks = try rig.core.auditEntries().filter { $0.operation == .unlocked }
    expect(unlocks.count, equals: 1)
  }

  /// All of them run before the first one gets its command.
  @Test(
    "of many clients at once, each gets what its own command prints, and no other client's",
    .requirement("G1"))
  func manyClients() throws {
    let rig = try AgentRig()
    try rig.core.unlock(with: Passcode(testing: "1234"))
    let numbers = 10..<34
    for number in numbers {
      let new = NewItem(.genericPassword, name: "n\(number)")
      _ = try rig.core.add(new, secret: SecretBytes(testing: "secret-\(number)"))
    }
    rig.core.lock()
    _ = try rig.run("unlock", passcode: "1234")
    let clients = try numbers.map { number in
      let input = try PipeEnds()
      return (number: number, input: input, client: try rig.send("vault", "batch", input: input.reader))
    }
    try rig.turn(until: "all requests") { rig.loop.requestCount == numbers.count }
    for (number, input, _) in clients.reversed() {
      input.write("{\"args\":[\"get\",\"n\(number)\"]}\n{\"args\":[\"get\",\"x\"]}\n")
      input.closeWriting()
    }
    for (number, _, client) in clients {
      let end = try rig.end(client)
      let lines = end.text.split(separator: "\n")
      #expect(lines.count == 2 && end.ending == .exit(1) && end.prompts == 0, "\(end)")
      #expect(lines.first?.contains("\"secret\":\"secret-\(number)\"") == true, "\(number): \(end)")
    }
    let lost = try rig.send("get", "x")
    let end = try rig.end(lost)
    #expect(end.text.isEmpty && lost.errorText.contains("there is no item"), "\(end) \(lost.errorText)")
  }

  @Test(
    "asking for the state extends nothing, and at the end of the idle time the vault is locked",
    .requirement("G2"))
  func status() throws {
    let rig = try AgentRig()
    _ = try rig.run("unlock", "--idle", "60s", passcode: "1234")
    rig.clock.advance(by: .seconds(59))
    let status = try rig.run("agent", "status", "--json")
    let json = try #require(try JSONSerialization.jsonObject(with: Data(status.text.utf8)) as? [String: Any])
    let vault = try #require((json["vaults"] as? [[String: Any]])?.first)
    #expect(vault["idleLeft"] as? Int == 1 && vault["unlocked"] as? Bool == true, "\(status)")
    _ = try rig.run("ls")
    #expect(rig.isUnlocked)
    rig.clock.advance(by: .seconds(1))
    try rig.turn(until: "the lock") { !rig.isUnlocked }
    let got = try rig.run("get", "mail")
    #expect(got.ending == .exit(5) && got.prompts == 1, "\(got)")
  }

  @Test("the use of a secret extends the lease", .requirement("G2"))
  func use() throws {
    let rig = try AgentRig()
    _ = try rig.run("unlock", "--idle", "60s", passcode: "1234")
    for _ in 0..<3 {
      rig.clock.advance(by: .seconds(50))
      try expect(rig.run("get", "mail").text, equals: "tok-1")
    }
  }

  @Test("'lock' wipes the keys, and the next command asks", .requirement("G3"))
  func lock() throws {
    let rig = try AgentRig()
    _ = try rig.run("unlock", passcode: "1234")
    let locked = try rig.run("lock")
    #expect(locked.ending == .exit(0) && locked.text == "locked  \(rig.place.path)\n", "\(locked)")
    #expect(!rig.isUnlocked)
    let again = try rig.run("lock")
    #expect(again.ending == .exit(0) && again.text == "the vault was not unlocked\n", "\(again)")
    try expect(rig.run("lock", "--all").text, equals: "no vault was unlocked\n")
    #expect(try rig.run("lock", "--json").text.contains("\"locked\":[]"))
    #expect(try rig.run("agent", "status").text.hasSuffix("\nno vault is unlocked\n"))
    try expect(rig.run("get", "mail").ending, equals: .exit(5))
  }

  @Test("'lock' finds the vault by its file, whatever path names it", .requirement("G3"))
  func lockByFile() throws {
    let rig = try AgentRig()
    _ = try rig.run("unlock", passcode: "1234")
    let client = try Client(rig.connect())
    let folder = rig.place.path.lastIndex(of: "/").map { rig.place.path[...$0] } ?? ""
    let other = folder + "./" + rig.place.path.dropFirst(folder.count)
    try client.send(rig.request(["lock"], path: String(other)), input: nil)
    try expect(rig.end(client).text, equals: "locked  \(rig.place.path)\n")
    #expect(!rig.isUnlocked)
  }

  @Test("one unlock serves two clients that wait, and the prompt of the second ends", .requirement("G4"))
  func oneUnlock() throws {
    let rig = try AgentRig()
    let first = try rig.send("get", "mail")
    let firstCall = try AgentCall(rig.packet(for: first))
    let second = try rig.send("get", "mail")
    let secondCall = try AgentCall(rig.packet(for: second))
    try first.answer(firstCall, "1234")
    try expect(rig.end(first).text, equals: "tok-1")
    let cancel = try rig.packet(for: second)
    try expect(AgentCancel(cancel).number, equals: secondCall.number)
    try second.answer(secondCall, nil)
    let end = try rig.end(second)
    #expect(end.ending == .exit(0) && end.text == "tok-1" && end.prompts == 0, "\(end) \(second.errorText)")
  }

  @Test("a client that goes away ends its verb before the commit", .requirement("G5"))
  func gone() throws {
    let rig = try AgentRig()
    _ = try rig.run("unlock", passcode: "1234")
    let input = try PipeEnds()
    var client: Client? = try rig.send("add", "late", input: input.reader)
    try rig.begin(#require(client))
    client?.socket.finish()
    client = nil
    try rig.turn(until: "the end of the client") { rig.loop.goneCount == 1 }
    input.write("secret")
    input.closeWriting()
    try rig.turn(until: "the end of the request") { rig.loop.connectionCount == 0 }
    let names = try rig.core.listing(of: nil, where: Attributes()) { _ in }.items.map(\.name)
    expect(names, equals: ["mail"])
  }

  @Test(
    "connections that say nothing make room for who says something, and end after five seconds",
    .requirement("G8"))
  func silent() throws {
    let rig = try AgentRig()
    var clients: [AgentSocket] = []
    for _ in 0..<300 {
      clients.append(try rig.connect())
      rig.loop.turn(waits: false)
    }
    #expect(rig.loop.connectionCount <= AgentLoop.usualConnections)
    try expect(rig.run("agent", "status").ending, equals: .exit(0))
    rig.clock.advance(by: .milliseconds(Int64(AgentLoop.silenceMilliseconds)))
    try rig.turn(until: "the end of the silent ones") { rig.loop.connectionCount == 0 }
    expect(clients.count, equals: 300)
  }

  @Test(
    "told to stop, the agent wipes all keys first, ends open prompts, and takes no more requests",
    .requirement("G3"))
  func stop() throws {
    let rig = try AgentRig()
    _ = try rig.run("unlock", passcode: "1234")
    rig.service.vaults.lockAll(because: .command)
    let waiting = try rig.send("get", "mail")
    let call = try AgentCall(rig.packet(for: waiting))
    rig.service.stop()
    #expect(!rig.isUnlocked)
    try expect(AgentCancel(rig.packet(for: waiting)).number, equals: call.number)
    #expect(try !rig.takesConnections)
    try waiting.answer(call, nil)
    // Not "cancelled at the prompt" and exit 5, as it would at b471ba6f: no person has cancelled.
    try expect(rig.end(waiting).ending, equals: .exit(13))
    #expect(waiting.errorText.contains("the agent is ending"), "\(waiting.errorText)")
    try expect(rig.core.auditEntries().last { $0.operation == .promptShown }?.outcome, equals: .program)
    try rig.turn(until: "the end") { rig.loop.isDone }
  }

  @Test("the agent answers the command that stops it", .requirement("G3"))
  func stopped() throws {
    let rig = try AgentRig()
    _ = try rig.run("unlock", passcode: "1234")
    let stop = try rig.run("agent", "stop")
    #expect(stop.ending == .exit(0) && stop.text == "the agent ends\n", "\(stop)")
    try rig.turn(until: "the end") { rig.loop.isDone }
    #expect(!rig.isUnlocked)
  }

  @Test(
    "another version and another device key are refused, but any version can stop the agent",
    .requirement("G11"))
  func refused() throws {
    let rig = try AgentRig()
    let old = try rig.send("ls", version: "0.0.1")
    try expect(AgentRefusal(rig.packet(for: old)).reason, equals: .version)
    _ = try rig.run("unlock", passcode: "1234")
    let other = try rig.send("ls", deviceKey: "/elsewhere.key")
    try expect(AgentRefusal(rig.packet(for: other)).reason, equals: .otherKey)
    let stop = try rig.send("agent", "stop", version: "0.0.1")
    try expect(rig.end(stop).ending, equals: .exit(0))
  }

  @Test("a vault's own file as standard input is refused, and the vault keeps its locks", .requirement("G9"))
  func vaultAsInput() throws {
    let rig = try AgentRig()
    _ = try rig.run("unlock", passcode: "1234")
    let file = unsafe open(rig.place.path, O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    let client = try rig.send("ls", input: file)
    try expect(AgentRefusal(rig.packet(for: client)).reason, equals: .vaultAsInput)
    try rig.turn(until: "the end of the connection") { rig.loop.connectionCount == 0 }
    try expect(rig.run("get", "mail").text, equals: "tok-1")
  }

  /// The client does these by itself. A program that speaks to the agent in its own way gets the same answer.
  @Test(
    "no vault and no backup is made, and no passcode or recovery code changed, by the agent, however it is asked",
    .requirement("G10"),
    arguments: [
      "init --no-passcode", "backup copy", "restore copy --replace", "passcode remove", "recovery-code new",
      "vault rotate device-key",
    ])
  func replacing(line: String) throws {
    let rig = try AgentRig()
    _ = try rig.run("unlock", passcode: "1234")
    let client = try Client(rig.connect())
    let words = line.split(separator: " ").map(String.init)
    try client.send(rig.request(words), input: nil)
    let end = try rig.end(client)
    #expect(end.ending == .exit(9) && end.prompts == 0, "\(end)")
    #expect(client.errorText.contains("the agent does not run this command"), "\(client.errorText)")
  }

  @Test(
    "a connection that begins with anything but a request is closed", .requirement("G8"),
    arguments: [0, 1, 2])
  func malformed(kind: Int) throws {
    let rig = try AgentRig()
    let client = try Client(rig.connect())
    let packets = [AgentSignal(2).packet, AgentHeld.packet, AgentReply(1, .failure(AgentFields())).packet]
    try client.socket.send(packets[kind])
    try rig.turn(until: "the end of the connection") {
      do throws(AgentMessageError) { return try client.socket.receive(waits: false) != nil } catch {
        return error == .gone
      }
    }
    try rig.turn(until: "no connection") { rig.loop.connectionCount == 0 }
  }

  @Test(
    "nothing is done for a command that has stopped waiting before it was told of the begin",
    .requirement("G5"))
  func takenBack() throws {
    let rig = try AgentRig()
    let client = try rig.send("ls")
    client.socket.finish()
    var wasThere = false
    try rig.turn(until: "the end of the connection") {
      wasThere = wasThere || rig.loop.connectionCount == 1
      return wasThere && rig.loop.connectionCount == 0
    }
    #expect(client.text.isEmpty && client.errorText.isEmpty, "\(client.text)")
  }

  @Test("commands that have connected before the agent ends are told, and do without it", .requirement("G3"))
  func pending() throws {
    let rig = try AgentRig()
    let asked = try rig.send("ls")
    let silent = try Client(rig.connect())
    rig.service.stop()
    for client in [asked, silent] {
      try expect(AgentRefusal(rig.packet(for: client)).reason, equals: .ending)
    }
    try rig.turn(until: "the end") { rig.loop.isDone }
    #expect(asked.text.isEmpty)
  }

  @Test(
    "a descriptor whose closing takes its time delays no lock: of a request that is refused, and of a packet that is none",
    .requirement("G3"), arguments: [false, true])
  func slowDescriptor(isMalformed: Bool) throws {
    let rig = try AgentRig()
    _ = try rig.run("unlock", passcode: "1234")
    let slow = try SlowDescriptor()
    let client = try Client(rig.connect())
    if isMalformed {
      let descriptors = AgentDescriptors(owning: [slow.descriptor])
      try client.socket.send(AgentReply(1, .content(.init()), descriptors: descriptors).packet)
    } else {
      let request = try rig.request(["ls"], version: "0.0.1")
      let descriptors = [slow.descriptor, slow.descriptor, slow.descriptor]
      try client.socket.send(request.packet(AgentDescriptors(lending: descriptors)))
      close(slow.descriptor)
      try expect(AgentRefusal(rig.packet(for: client)).reason, equals: .version)
    }
    try rig.turn(until: "the request") { rig.loop.connectionCount == 1 }
    try expect(rig.run("lock").ending, equals: .exit(0))
    #expect(!rig.isUnlocked)
    close(slow.other)
    try rig.turn(until: "the end of the connection") { rig.loop.connectionCount == 0 }
  }

  @Test(
    "an agent of another protocol says its version and can be stopped, whatever else the request has",
    .requirement("G11"))
  func otherProtocol() throws {
    let rig = try AgentRig()
    let null = try Scratch()
    func send(_ words: [String]) throws -> Client {
      var fields = AgentFields<AgentRun.Tag>()
      fields.set(.protocolNumber, Int64(99))
      fields.set(.version, rig.service.world.agentVersion)
      fields.set(.words, words)
      fields.set(.vault, "none")
      let client = try Client(rig.connect())
      let descriptors = AgentDescriptors(lending: [null.descriptor, null.descriptor, null.descriptor])
      try client.socket.send(AgentPacket(.run, fields, descriptors: descriptors))
      return client
    }
    try expect(AgentRefusal(rig.packet(for: send(["ls"]))).reason, equals: .version)
    try expect(rig.end(send(["agent", "stop"])).ending, equals: .exit(0))
  }
}

/// A descriptor whose last closing waits until the other end is closed: a connection that lingers, with bytes that nothing reads.
private struct SlowDescriptor {
  let descriptor: Int32
  let other: Int32

  init() throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(listener) }
    var address = sockaddr_in()
    (address.sin_family, address.sin_addr.s_addr) = (sa_family_t(AF_INET), UInt32(0x7F00_0001).bigEndian)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var time = linger(l_onoff: 1, l_linger: 3600)
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &time, socklen_t(MemoryLayout<linger>.size))
    let descriptor = descriptor
    let isConnected = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        unsafe bind(listener, address, size) == 0 && listen(listener, 1) == 0
          && getsockname(listener, address, &size) == 0 && connect(descriptor, address, size) == 0
      }
    }
    try #require(isConnected)
    other = accept(listener, nil, nil)
    let bytes = [UInt8](repeating: 0, count: 1 << 16)
    while unsafe send(descriptor, bytes, bytes.count, Int32(MSG_DONTWAIT)) > 0 {}
  }
}
