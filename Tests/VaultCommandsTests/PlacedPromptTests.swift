import AgentMessages
import CLinux
import CommandLineKit
import Foundation
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultCommands
import VaultExpectations
import VaultKit
import VaultPrompts
import VaultTestKit

/// What the process of a command has no say in, where the agent itself asks or takes a finger for a yes. The process here agrees to
/// everything. `Tests/Hostile` has the same with a keeper under a user id of its own.
@Suite("A prompt at the place of the agent", .bounded, .requirement("G16"))
struct PlacedPromptTests {
  /// Would fail when the process of the command is asked for the yes.
  @Test("a yes is a finger, whatever the process of the command says")
  func finger() throws {
    let reader = ScriptedBiometry(
      fingers: ["right-index-finger"], [.finger("right-index-finger"), .failure(.scripted(.unsupported))])
    let client = try AgreeingClient(at: .finger(Self.place(reader)))
    let request = PromptRequest(.confirmation, operation: "accept the transaction", label: "pay-1")
    expect(client.confirms(request), equals: .yes)
    expect(client.confirms(request), equals: .failed(.unsupported))
    expect(client.confirms(request), equals: .failed(.authenticationFailed))
    expect(Set(client.calls), equals: [.show])
    expect(reader.requests.map(\.label), equals: ["pay-1", "pay-1", "pay-1"])
  }

  /// Would fail when the answer of the process is enough.
  @Test("a text is shown by the process of the command, which can say no to it, and no yes without a finger")
  func text() throws {
    let reader = ScriptedBiometry(fingers: ["right-index-finger"], [.finger("right-index-finger")])
    var request = PromptRequest(.transaction, operation: "sign", label: "bank")
    request.text = try ShownText("Pay 12 EUR to Anna")
    let declining = try AgreeingClient(at: .finger(Self.place(reader)), agrees: false)
    expect(declining.confirms(request), equals: .no)
    expect(reader.requests, equals: [])
    let agreeing = try AgreeingClient(at: .finger(Self.place(reader)))
    expect(agreeing.confirms(request), equals: .yes)
    expect(agreeing.confirms(request), equals: .failed(.authenticationFailed))
    expect(agreeing.calls.filter { $0 == .confirm }.count, equals: 2)
  }

  @Test("where a finger is the yes, secrets are typed in the process of the command")
  func typed() throws {
    let client = try AgreeingClient(at: .finger(Self.place(ScriptedBiometry(fingers: []))))
    let request = PromptRequest(.passcode, operation: "unlock")
    let secret = try client.host.prompt(.automatic).type(request, limit: 100, isRepeated: false)
    let isTyped = secret.isEqualInConstantTime(to: SecretBytes(testing: "yes"))
    #expect(isTyped)
    expect(client.calls, equals: [.type])
  }

  /// Would fail when the place is not looked at again.
  @Test("an answer on a terminal that became another's meanwhile is none")
  func gone() async throws {
    for isTyped in [true, false] {
      let screen = try PseudoTerminal()
      let held = unsafe open(screen.path, O_RDWR | O_NOCTTY | O_CLOEXEC)
      defer { close(held) }
      var host = LocalHost(environment: Environment(["HOME": try Tool().home.path]))
      host.terminalPath = screen.path
      let client = try AgreeingClient(
        at: .here(PlaceHere(host, .terminal, named: screen.path, isOfCommand: false)),
        then: .nowhere(VaultError(.interactionNotAllowed, "the terminal is gone")))
      let answer = onThread {
        isTyped
          ? client.types(PromptRequest(.passcode, operation: "unlock"))
          : client.confirms(PromptRequest(.confirmation, operation: "accept"))
      }
      try screen.wait(for: isTyped ? "passcode: " : "[y/N] ")
      screen.type("y\n")
      try await expect(answer.value, equals: .failed(.interactionNotAllowed))
      #expect(!client.calls.contains(.type) && !client.calls.contains(.confirm))
    }
  }

  /// Verified to fail when the reader begins at once, and when any line is taken for Enter.
  @Test("where the agent has a terminal of its own, the person starts the reader there, and sees for what")
  func start() async throws {
    for (typed, outcome) in [
      (["\n"], AgreeingClient.Said.typed), (["x\n", "\n"], .typed), (["\u{4}"], .failed(.cancelled)),
      (["x\n", "y\n", "z\n"], .failed(.cancelled)),
    ] {
      let asked = try AskedTerminal()
      let reader = ScriptedBiometry(fingers: ["right-index-finger"], [.finger("right-index-finger")])
      let client = try AgreeingClient(at: asked.place(reader), startsByHand: true)
      let request = PromptRequest(.finger, operation: "use the key", label: "door")
      let answer = onThread { client.verifies(request) }
      for line in typed {
        try waitUntil("the question, or the reader") {
          asked.screen.shows("use the key: 'door'\r\n") || !reader.requests.isEmpty
        }
        try #require(reader.requests.isEmpty)
        try asked.screen.wait(for: "Enter starts the fingerprint reader, Ctrl-D declines: ")
        expect(reader.requests, equals: [])
        asked.screen.type(line)
      }
      try await expect(answer.value, equals: outcome)
      expect(reader.requests.count, equals: outcome == .typed ? 1 : 0)
    }
  }

  /// Verified to fail when the place is not looked at after the verdict.
  @Test("a finger that comes while the terminal is another's is none")
  func goneWithReader() async throws {
    let asked = try AskedTerminal()
    let reader = ScriptedBiometry(fingers: ["right-index-finger"], [.finger("right-index-finger")])
    // It is there for the Enter.
    let client = try AgreeingClient(
      at: asked.place(reader), then: .nowhere(VaultError(.interactionNotAllowed, "the terminal is gone")),
      after: 4, startsByHand: true)
    let answer = onThread { client.verifies(PromptRequest(.finger, operation: "use the key")) }
    try asked.screen.wait(for: "declines: ")
    asked.screen.type("\n")
    try await expect(answer.value, equals: .failed(.interactionNotAllowed))
    expect(reader.requests.count, equals: 1)
  }

  /// Verified to fail when only a question that stands is looked at.
  @Test(
    "a command that goes or fails after one of its questions has the next question wait for Enter"
  )
  func goneBetween() async throws {
    for (deed, isCut) in [("goes", true), ("gets a signal", true), ("fails", true), ("ends", false)] {
      let asked = try AskedTerminal()
      let client = try AgreeingClient(at: asked.place())
      let request = PromptRequest(.confirmation, operation: "accept")
      let answer = onThread { client.confirms(request) }
      try asked.screen.wait(for: "[y/N] ")
      asked.screen.type("y\n")
      try await expect(answer.value, equals: .yes)
      switch deed {
      case "goes": client.link.gone()
      case "gets a signal": try client.link.received(AgentSignal(SIGTERM).packet)
      default:
        client.link.end(.exit(deed == "fails" ? .io : .done))
        client.link.gone()
      }
      let next = try AgreeingClient(at: asked.place())
      let second = onThread { next.confirms(request) }
      if isCut {
        try asked.screen.wait(for: "Press Enter to see the next question: ", before: "[y/N] ")
        asked.screen.type("y\n")
      }
      try asked.screen.wait(for: "[y/N] ")
      asked.screen.type("n\n")
      try await expect(second.value, equals: .no, "\(deed)")
      expect(asked.screen.transcript.contains("Press Enter"), equals: isCut, "\(deed)")
    }
  }

  /// A terminal of the agent alone.
  private final class AskedTerminal: @unchecked Sendable {  // one thread uses it
    let screen: PseudoTerminal
    private let held: Int32
    private let cuts = CutQuestions()

    init() throws {
      screen = try PseudoTerminal()
      held = unsafe open(screen.path, O_RDWR | O_NOCTTY | O_CLOEXEC)
    }

    deinit { close(held) }

    func place(_ reader: ScriptedBiometry? = nil) throws -> PromptPlace {
      var host = LocalHost(environment: Environment(["HOME": try Tool().home.path]))
      (host.terminalPath, host.cuts) = (screen.path, cuts)
      if let reader { host.biometry = reader }
      return .here(PlaceHere(host, .terminal, named: screen.path, isOfCommand: false))
    }
  }

  private static func place(_ reader: ScriptedBiometry) -> PlaceHere {
    var host = LocalHost(environment: Environment([:]))
    host.biometry = reader
    return PlaceHere(host, .automatic, named: "the fingerprint reader", isOfCommand: false)
  }
}

/// The process of a command that says yes to every question, and the host of its verb.
private final class AgreeingClient: Sendable {
  let host: RemoteHost
  let link: ClientLink
  private let ends: [AgentSocket]
  private let seen = Mutex<[AgentCall.Kind]>([])

  /// - Parameters:
  ///   - later: The place after so many looks; nil for the same.
  ///   - startsByHand: Whether the person starts what verifies them.
  init(
    at place: PromptPlace, then later: PromptPlace? = nil, after looks: Int = 1, startsByHand: Bool = false,
    agrees: Bool = true
  ) throws {
    var pair: [Int32] = [-1, -1]
    try #require(unsafe clinux_packet_pair(&pair) == 0)
    let ends = pair.map { AgentSocket(owning: $0) }
    self.ends = ends
    let link = ClientLink(ends[0], interruption: Interruption())
    self.link = link
    host = RemoteHost(link, asking: Places(place, then: later, after: looks, startsByHand: startsByHand))
    _ = onThread { while let packet = try ends[0].receive() { try link.received(packet) } }
    _ = onThread { [weak self] in
      while let packet = try ends[1].receive() {
        let call = try AgentCall(packet)
        self?.seen.withLock { $0.append(call.kind) }
        var content = AgentFields<AgentReply.Content>()
        content.set(.isTrue, agrees)
        if call.kind == .type { content.set(.secret, SharedSecret(SecretBytes(testing: "yes"))) }
        if call.kind == .verifyFinger { content.set(.text, "right-index-finger") }
        try ends[1].send(AgentReply(call.number, .content(content)).packet)
      }
    }
  }

  deinit { for end in ends { end.finish() } }

  enum Said: Equatable { case yes, no, typed, failed(VaultError.Code) }

  func confirms(_ request: PromptRequest) -> Said {
    do throws(VaultError) { return try host.prompt(.automatic).confirm(request) ? .yes : .no } catch {
      return .failed(error.code)
    }
  }

  func types(_ request: PromptRequest) -> Said {
    do throws(VaultError) {
      _ = try host.prompt(.automatic).readSecret(request)
      return .typed
    } catch { return .failed(error.code) }
  }

  func verifies(_ request: PromptRequest) -> Said {
    do throws(VaultError) {
      _ = try host.biometry.verify(request) { _ in }
      return .typed
    } catch { return .failed(error.code) }
  }

  /// What it was asked for.
  var calls: [AgentCall.Kind] { seen.withLock { $0 } }

  private final class Places: PromptPlaces {
    private let first: PromptPlace
    private let later: PromptPlace
    private let most: Int
    private let looks = Mutex(0)
    let startsByHand: Bool

    init(_ first: PromptPlace, then later: PromptPlace?, after most: Int, startsByHand: Bool) {
      (self.first, self.later) = (first, later ?? first)
      (self.most, self.startsByHand) = (most, startsByHand)
    }

    var place: PromptPlace {
      looks.withLock { looks in
        looks += 1
        return looks <= most ? first : later
      }
    }
    var presencePlace: PromptPlace { place }
    var readerPlace: PromptPlace { place }
    var requester: PromptRequest.Requester? { nil }
    func beginPrompt() throws(VaultError) {}
    func endPrompt() {}
  }
}
