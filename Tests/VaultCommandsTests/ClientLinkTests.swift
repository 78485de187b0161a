import AgentMessages
import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultCommands
import VaultKit
import VaultPrompts

/// The agent's end of a connection, beside a command's process that the test plays.
@Suite("The agent's link to a command", .bounded)
struct ClientLinkTests {
  private let link: ClientLink
  private let command: AgentSocket
  private let interruption = Interruption()

  init() throws {
    let (agent, command) = try AgentSocket.pair()
    link = ClientLink(agent, interruption: interruption)
    self.command = command
  }

  /// Hands over what came from the command.
  private func deliver() throws { try link.received(#require(try link.socket.receive())) }

  /// Types the answer to the prompt of a call on a thread of its own.
  private func ask() -> Task<String?, any Error> {
    let link = link
    return onThread {
      let request = PromptRequest(.passcode, operation: "x")
      let answer = try? RemoteHost(link).prompt(.terminal).type(request, limit: 9, isRepeated: false)
      return answer?.expose { bytes in
        unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
      }
    }
  }

  private func call() throws -> AgentCall { try AgentCall(#require(try command.receive())) }

  private func answer(_ number: Int64, _ text: String) throws {
    var content = AgentFields<AgentReply.Content>()
    content.set(.secret, text)
    try command.send(AgentReply(number, .content(content)).packet)
  }

  @Test("the answer of a call goes to the thread that waits for it, and the calls are numbered")
  func calls() async throws {
    for number in Int64(1)...3 {
      let asked = ask()
      try expect(call().number, equals: number)
      try answer(number, "pass \(number)")
      try deliver()
      try await expect(asked.value, equals: "pass \(number)")
    }
  }

  @Test("an answer without a call, one of another number and a second one are faults")
  func strayReplies() async throws {
    try answer(1, "early")
    #expect(throws: AgentMessageError.unexpected(.reply)) { try deliver() }
    let asked = ask()
    _ = try call()
    try answer(2, "other")
    #expect(throws: AgentMessageError.unexpected(.reply)) { try deliver() }
    try answer(1, "right")
    try deliver()
    try answer(1, "twice")
    #expect(throws: AgentMessageError.unexpected(.reply)) { try deliver() }
    try await expect(asked.value, equals: "right")
  }

  @Test("a command that is gone ends the call that waits and each later one, and interrupts the verb")
  func gone() async throws {
    let asked = ask()
    _ = try call()
    command.finish()
    #expect(throws: AgentMessageError.gone) { try deliver() }
    link.gone()
    #expect(try await asked.value == nil)
    #expect(link.isGone)
    #expect(throws: VaultError.self) { try interruption.hold() }
    #expect(try await ask().value == nil)
  }

  @Test("a prompt that is cancelled is still answered, and the next one is asked")
  func cancel() async throws {
    let asked = ask()
    let number = try call().number
    link.cancel()
    try expect(AgentCancel(#require(try command.receive())).number, equals: number)
    try answer(number, "typed just before")
    try deliver()
    try await expect(asked.value, equals: "typed just before")
    let again = ask()
    try answer(call().number, "again")
    try deliver()
    try await expect(again.value, equals: "again")
  }

  @Test("a cancellation before the prompt ends it unasked, unless it was forgotten")
  func cancelBefore() async throws {
    link.cancel()
    #expect(try await ask().value == nil)
    link.cancel()
    link.forgetCancel()
    let asked = ask()
    try answer(call().number, "asked")
    try deliver()
    try await expect(asked.value, equals: "asked")
  }

  @Test("the ending of one request cancels its own prompt alone")
  func ending() async throws {
    let ending = PromptEnding()
    let link = link
    let asked = onThread {
      var request = PromptRequest(.passcode, operation: "x")
      request.ending = ending
      return (try? RemoteHost(link).prompt(.terminal).type(request, limit: 9, isRepeated: false)) == nil
    }
    let number = try call().number
    ending.end()
    try expect(AgentCancel(#require(try command.receive())).number, equals: number)
    try command.send(AgentReply(number, .content(.init())).packet)
    try deliver()
    #expect(try await asked.value)
  }

  @Test("a signal interrupts a verb that has not begun to commit; to one that has, it came too late")
  func signals() throws {
    try interruption.hold()
    try command.send(AgentSignal(SIGTERM).packet)
    try deliver()
    try expect(#require(try command.receive(waits: false)).kind, equals: .held)
    let (agent, other) = try AgentSocket.pair()
    let early = ClientLink(agent, interruption: Interruption())
    try other.send(AgentSignal(SIGTERM).packet)
    try early.received(#require(try agent.receive()))
    #expect(try other.receive(waits: false) == nil)
  }

  @Test("an answer that has not what the call asks for is as no answer, and the command is of no more use")
  func wrongAnswer() async throws {
    let asked = ask()
    try command.send(AgentReply(call().number, .content(.init())).packet)
    try deliver()
    #expect(try await asked.value == nil)
    #expect(link.isGone)
  }

  @Test("a packet that only an agent sends is a fault")
  func wrongDirection() throws {
    try command.send(AgentEnding.exit(0).packet)
    #expect(throws: AgentMessageError.unexpected(.ended)) { try deliver() }
  }
}
