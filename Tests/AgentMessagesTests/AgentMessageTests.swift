import AgentMessages
import Foundation
import SecretMemory
import TestSupport
import Testing

@Suite("Messages between a command and the agent", .bounded, .requirement("G8"))
struct AgentMessageTests {
  @Test("a request comes back whole")
  func run() throws {
    let run = AgentRun(
      version: "0.1.0", words: ["add", "grüße", ""], variables: [("HOME", "/h"), ("TERM", "")],
      vault: .init(path: "/h/v", identity: .init(device: .max, inode: 7)), deviceKey: "/h/k",
      ignoresBrokenPipes: true)
    let read = try AgentRun(run.packet(AgentDescriptors()))
    expect(read.version, equals: "0.1.0")
    expect(read.words, equals: ["add", "grüße", ""])
    expect(read.variables, equals: ["HOME": "/h", "TERM": ""])
    expect(read.vault, equals: .init(path: "/h/v", identity: .init(device: .max, inode: 7)))
    expect(read.deviceKey, equals: "/h/k")
    #expect(read.ignoresBrokenPipes)
    let bare = try AgentRun(AgentRun(version: "1", words: []).packet(AgentDescriptors()))
    expect(bare.words, equals: [])
    #expect(bare.vault == nil && bare.deviceKey == nil && !bare.ignoresBrokenPipes)
  }

  @Test(
    "a request with a word that no process has, a path that is not absolute or half of an identity is refused",
    arguments: Malformed.allCases)
  func malformedRun(case: Malformed) throws {
    let packet = AgentPacket(.run, `case`.fields)
    #expect(throws: `case`.error) { try AgentRun(packet) }
  }

  @Test("calls, cancellations and their answers come back with their numbers")
  func calls() throws {
    var content = AgentFields<AgentCall.Content>()
    content.set(.path, "/p")
    let call = try AgentCall(AgentCall(7, .openFile, content).packet)
    expect(call.number, equals: 7)
    expect(call.kind, equals: .openFile)
    try expect(call.content.text(.path), equals: "/p")
    try expect(AgentCancel(AgentCancel(7).packet).number, equals: 7)
    var failure = AgentFields<AgentReply.Failure>()
    failure.set(.message, "no")
    let reply = try AgentReply(AgentReply(7, .failure(failure)).packet)
    expect(reply.number, equals: 7)
    guard case .failure(let fields) = reply.answer else { throw AgentMessageError.gone }
    try expect(fields.text(.message), equals: "no")
  }

  @Test("an answer with a content and a failure, or with neither, is refused")
  func oddReply() {
    var both = AgentFields<AgentReply.Tag>()
    both.set(.number, Int64(1))
    #expect(throws: AgentMessageError.missingField(2)) { try AgentReply(AgentPacket(.reply, both)) }
    both.set(.content, AgentFields<AgentReply.Content>())
    both.set(.failure, AgentFields<AgentReply.Failure>())
    #expect(throws: AgentMessageError.missingField(2)) { try AgentReply(AgentPacket(.reply, both)) }
  }

  @Test("an end is an exit code or a signal, a refusal has a reason")
  func ends() throws {
    for ending in [AgentEnding.exit(0), .exit(255), .signal(13)] {
      try expect(AgentEnding(ending.packet), equals: ending)
    }
    let refusal = AgentRefusal(.otherKey, "open with another key")
    try expect(AgentRefusal(refusal.packet), equals: refusal)
    try expect(AgentSignal(AgentSignal(15).packet), equals: AgentSignal(15))
    var exit = AgentFields<AgentEnding.Tag>()
    exit.set(.exit, Int64(256))
    #expect(throws: AgentMessageError.wrongValue(1)) { try AgentEnding(AgentPacket(.ended, exit)) }
    exit.set(.signal, Int64(1))
    #expect(throws: AgentMessageError.missingField(1)) { try AgentEnding(AgentPacket(.ended, exit)) }
    var reason = AgentFields<AgentRefusal.Tag>()
    reason.set(.reason, Int64(99))
    #expect(throws: AgentMessageError.wrongValue(1)) { try AgentRefusal(AgentPacket(.refused, reason)) }
  }

  @Test("a request of another protocol still says its version and its words, whatever else it has")
  func otherProtocol() throws {
    var fields = AgentFields<UInt8Tag>()
    fields.set(UInt8Tag(1), Int64(99))
    fields.set(UInt8Tag(2), "9.9")
    fields.set(UInt8Tag(3), ["agent", "stop"])
    fields.set(UInt8Tag(200), "unknown here")
    let packet = AgentPacket(.run, fields)
    #expect(throws: AgentMessageError.otherProtocol(99)) { try AgentRun(packet) }
    let run = try AgentRun(ofOtherProtocol: packet)
    #expect(run.version == "9.9" && run.words == ["agent", "stop"] && run.vault == nil, "\(run)")
  }

  @Test("a message is not read as one of another type")
  func otherType() {
    let packet = AgentSignal(15).packet
    #expect(throws: AgentMessageError.unexpected(.signal)) { try AgentRun(packet) }
    #expect(throws: AgentMessageError.unexpected(.signal)) { try AgentReply(packet) }
  }

  /// Requests that are wrong in one field.
  enum Malformed: CaseIterable, Sendable {
    case otherProtocol, wordWithNUL, relativeVault, vaultWithoutInode, inodeWithoutVault, oddVariables
    case variableTwice

    var error: AgentMessageError {
      switch self {
      case .otherProtocol: .otherProtocol(1)
      case .wordWithNUL: .notText(3)
      case .relativeVault: .wrongValue(5)
      case .vaultWithoutInode: .missingField(7)
      case .inodeWithoutVault: .missingField(5)
      case .oddVariables: .wrongLength
      case .variableTwice: .wrongValue(4)
      }
    }

    var fields: AgentFields<AgentRun.Tag> {
      var fields = AgentFields<AgentRun.Tag>()
      fields.set(.protocolNumber, self == .otherProtocol ? 1 : AgentMessages.protocolNumber)
      fields.set(.version, "1")
      fields.set(.words, self == .wordWithNUL ? ["item\0get"] : ["status"])
      let variables = ["HOME", "/h"]
      switch self {
      case .oddVariables: fields.set(.variables, ["HOME"])
      case .variableTwice: fields.set(.variables, variables + variables)
      default: fields.set(.variables, variables)
      }
      switch self {
      case .relativeVault: fields.set(.vault, "v")
      case .vaultWithoutInode:
        fields.set(.vault, "/v")
        fields.set(.device, Int64(1))
      case .inodeWithoutVault: fields.set(.inode, Int64(1))
      default: break
      }
      return fields
    }
  }
}

/// The tag of a protocol that does not exist yet.
private struct UInt8Tag: RawRepresentable, Hashable, Sendable {
  let rawValue: UInt8

  init(rawValue: UInt8) { self.rawValue = rawValue }
  init(_ number: UInt8) { self.init(rawValue: number) }
}
