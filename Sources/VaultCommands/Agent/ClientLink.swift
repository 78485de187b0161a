package import AgentMessages
import CommandLineKit
import Dispatch
import Glibc
import Synchronization
import VaultKit
import VaultPrompts
import VaultWords

/// The agent's end of the connection to the process of one command.
///
/// The thread of the command makes calls, one at a time, and waits for the reply. Another thread of the agent reads the socket
/// and hands over what came: ``received(_:)`` and ``gone()``.
package final class ClientLink: Sendable {
  /// Why a call has no answer.
  package enum Failure: Error, Equatable {
    /// The process of the command is gone, or sent something else.
    case gone
    /// The answer is no longer wanted, and the person was not asked.
    case cancelled
  }

  private struct Open {
    let number: Int64
    let kind: AgentCall.Kind
    var reply: AgentReply?
    /// Whether its end was told: once is enough.
    var isCancelled = false
  }

  /// Why the agent ends prompts, which no person has cancelled then.
  enum PromptsEnd {
    /// Another command has unlocked the vault.
    case answered
    /// The agent ends. It shows no prompt after this.
    case agentEnds
  }

  private struct State {
    var last: Int64 = 0
    var open: Open?
    var isGone = false
    /// The next call that asks a person is not made.
    var cancelsNext = false
    /// Why the prompt that is open, or the next one, ends; nil if the agent ends none.
    var promptsEnd: PromptsEnd?
    /// Whether the descriptors of the command are waited for.
    var awaitsStandard = false
    var standard: AgentDescriptors?
    /// Those of the terminal on which the command has been asked about; nil before that, and after its end.
    var cuts: CutQuestions?
  }

  package let socket: AgentSocket
  /// That of the command.
  package let interruption: Interruption
  /// Whether a descriptor is a file of a vault that this process has open.
  let isVaultFile: @Sendable (Int32) -> Bool
  /// The prompts of this process.
  let shown = ShownPrompts()
  private let state = Mutex(State())
  /// Once for each call that was open: the reply is there, or the process is gone.
  private let answered = DispatchSemaphore(value: 0)
  /// Once if descriptors were waited for: they are there, the process is gone, or the agent ends.
  private let lent = DispatchSemaphore(value: 0)

  package init(
    _ socket: AgentSocket, interruption: Interruption,
    isVaultFile: @escaping @Sendable (Int32) -> Bool = { _ in false }
  ) {
    (self.socket, self.interruption, self.isVaultFile) = (socket, interruption, isVaultFile)
  }

  package var isGone: Bool { state.withLock { $0.isGone } }
  /// Whether the command has been told that its request is taken, and has not sent its descriptors yet.
  package var awaitsStandard: Bool { state.withLock { $0.awaitsStandard } }
}

// MARK: The thread of the command

extension ClientLink {
  /// Tells the command that its request is taken, and waits for its standard input, output and error.
  ///
  /// - Returns: nil if the agent ends before they come.
  /// - Throws: If the command is gone, as one is that has waited too long.
  package func begin() throws(AgentMessageError) -> AgentDescriptors? {
    let isEnding = try state.withLock { (state) throws(AgentMessageError) in
      guard !state.isGone else { throw .gone }
      state.awaitsStandard = state.promptsEnd != .agentEnds
      return !state.awaitsStandard
    }
    guard !isEnding else { return nil }
    try socket.send(AgentBegun.packet, waits: false)
    lent.wait()
    return try state.withLock { (state) throws(AgentMessageError) in
      guard !state.isGone else { throw .gone }
      defer { state.standard = nil }
      return state.standard
    }
  }

  /// Makes a call and waits for its reply.
  ///
  /// - Parameter ending: Ends a call that waits for a person or a server before it is answered. The reply comes all the same.
  func call(
    _ kind: AgentCall.Kind, _ content: CallContent = CallContent(),
    passing descriptors: AgentDescriptors = .init(), until ending: PromptEnding? = nil
  ) throws(Failure) -> AgentReply {
    let number = try begin(kind)
    let ticket = ending?.add { [weak self] in self?.cancel { $0.number == number } }
    defer { if let ticket { ending?.remove(ticket) } }
    do throws(AgentMessageError) {
      try socket.send(AgentCall(number, kind, content, descriptors: descriptors).packet)
    } catch { gone() }
    answered.wait()
    return try state.withLock { (state) throws(Failure) in
      defer { state.open = nil }
      guard let reply = state.open?.reply else { throw .gone }
      return reply
    }
  }

  private func begin(_ kind: AgentCall.Kind) throws(Failure) -> Int64 {
    try state.withLock { (state) throws(Failure) in
      guard !state.isGone else { throw .gone }
      if kind.asksPerson, state.cancelsNext || state.promptsEnd == .agentEnds {
        state.cancelsNext = false
        throw .cancelled
      }
      state.last += 1
      state.open = Open(number: state.last, kind: kind)
      return state.last
    }
  }

  /// Tells the process of the command how the verb ended. What it wrote is with the process already.
  package func end(_ ending: Ending) {
    let cuts = state.withLock { state in
      defer { state.cuts = nil }
      return state.cuts
    }
    if !ending.isExpected { cuts?.note() }
    let message: AgentEnding =
      switch ending {
      case .exit(let code): .exit(code.rawValue)
      case .signal(let number): .signal(number)
      }
    try? socket.send(message.packet)
  }
}

extension Ending {
  /// Whether a person who has answered a question of the command expects no other one: it is done, or they have declined.
  fileprivate var isExpected: Bool { self == .exit(.done) || self == .exit(.cancelled) }
}

// MARK: Any thread

extension ClientLink {
  /// Takes a packet of the command's process.
  ///
  /// - Throws: If it is none that can come now. Then call ``gone()``, and close the connection when the command has ended.
  package func received(_ packet: AgentPacket) throws(AgentMessageError) {
    switch packet.kind {
    case .standard: try take(AgentStandard.descriptors(of: packet))
    case .reply: try take(AgentReply(packet))
    case .signal:
      let number = try AgentSignal(packet).number
      // A signal that came too late ends nothing: the process waits for the result.
      guard interruption.came(number) else {
        try? socket.send(AgentHeld.packet, waits: false)
        return
      }
      noteCut()
      shown.end()
      // A prompt has the signal itself; a server would be waited for.
      cancel { !$0.kind.asksPerson }
    default: throw .unexpected(packet.kind)
    }
  }

  private func take(_ standard: AgentDescriptors) throws(AgentMessageError) {
    let isExpected = state.withLock { state in
      guard state.awaitsStandard else { return false }
      (state.awaitsStandard, state.standard) = (false, standard)
      return true
    }
    guard isExpected else { throw .unexpected(.standard) }
    lent.signal()
  }

  private func take(_ reply: AgentReply) throws(AgentMessageError) {
    let isExpected = state.withLock { state in
      guard !state.isGone, let open = state.open, open.number == reply.number, open.reply == nil else {
        return false
      }
      state.open?.reply = reply
      return true
    }
    guard isExpected else { throw .unexpected(.reply) }
    answered.signal()
  }

  /// The process of the command is gone, or of no more use: the verb ends before its commit, and no call is answered any more.
  package func gone() {
    interruption.clientIsGone()
    noteCut()
    defer { shown.end() }
    let wakes = state.withLock { state in
      guard !state.isGone else { return false }
      state.isGone = true
      return state.open != nil && state.open?.reply == nil
    }
    if wakes { answered.signal() }
    stopAwaitingStandard()
  }

  /// The person has been asked about the command on a terminal that has these.
  ///
  /// If the command ends before its verb, or the verb with an error, that is noted there: after one question the person expects the next one of the same
  /// command, and would answer what comes in its place.
  func asked(noting cuts: CutQuestions?, isAnswered: Bool) {
    let isGone = state.withLock { state in
      if !state.isGone { state.cuts = cuts }
      return state.isGone
    }
    if isAnswered, isGone || interruption.signal != nil { cuts?.note() }
  }

  private func noteCut() { state.withLock { $0.cuts }?.note() }

  /// The agent ends: the open prompt does, and none is shown after it.
  package func agentEnds() {
    state.withLock { $0.promptsEnd = .agentEnds }
    stopAwaitingStandard()
    cancel()
  }

  private func stopAwaitingStandard() {
    let wakes = state.withLock { state in
      defer { state.awaitsStandard = false }
      return state.awaitsStandard
    }
    if wakes { lent.signal() }
  }

  /// Ends the open call, if it asks a person, or else the next one that does: another command has unlocked the vault.
  package func cancel() {
    state.withLock { if $0.promptsEnd == nil { $0.promptsEnd = .answered } }
    guard !shown.end() else { return }
    cancel(orNext: true) { $0.kind.asksPerson }
    // One may have begun meanwhile.
    shown.end()
  }

  /// Forgets a ``cancel()`` that has ended no call.
  package func forgetCancel() {
    _ = takeCancel()
    state.withLock { if $0.promptsEnd == .answered { $0.promptsEnd = nil } }
  }

  /// Why the agent has ended the prompt; nil if it has ended none.
  var promptsEnd: PromptsEnd? { state.withLock { $0.promptsEnd } }

  /// Whether a ``cancel()`` has ended no call, which is forgotten.
  func takeCancel() -> Bool {
    state.withLock { state in
      defer { state.cancelsNext = false }
      return state.cancelsNext
    }
  }

  /// Ends the open call if it asks a person.
  func cancelOpen() {
    shown.end()
    cancel { $0.kind.asksPerson }
  }

  private func cancel(orNext: Bool = false, where isMeant: (Open) -> Bool) {
    let found = state.withLock { state -> Int64? in
      if let open = state.open, open.reply == nil, open.kind.isCancellable, isMeant(open) {
        state.open?.isCancelled = true
        return open.isCancelled ? nil : open.number
      }
      if orNext { state.cancelsNext = true }
      return nil
    }
    // It may overtake the call that it ends: the other end remembers the number.
    if let found { try? socket.send(AgentCancel(found).packet, waits: false) }
  }
}
