import SecretMemory
import Synchronization
import VaultKit

/// What the thread of the modules and the thread that waits for them share.
final class PAMConversation: Sendable {
  private enum Phase { case silent, asking, afterText, ended, abandoned }

  private struct State {
    var phase = Phase.silent
    /// The first failure of the conversation: it is the outcome, whatever the modules make of it.
    var failure: VaultError?
    var outcome: VaultError?
    var messages = 0
    var problem: String?
  }

  private let state = Mutex(State())
  private let request: PromptRequest
  private let prompt: any Prompt
  private let limits: PAMPresence.Limits
  /// The phase has changed.
  private let changed: WakePipe

  init(_ request: PromptRequest, _ prompt: any Prompt, _ limits: PAMPresence.Limits) throws(VaultError) {
    changed = try WakePipe()
    (self.request, self.prompt, self.limits) = (request, prompt, limits)
  }

  // MARK: the thread that waits

  /// Returns when the modules succeeded and the conversation did too.
  func wait() throws(VaultError) {
    let end = Deadline(after: limits.whole)
    while true {
      let (phase, failure, outcome) = state.withLock { ($0.phase, $0.failure, $0.outcome) }
      if let failure, phase == .ended || phase == .abandoned { throw failure }
      if phase == .ended {
        if let outcome { throw outcome }
        return
      }
      let deadline = Deadline.earlier(end, Deadline(after: limit(of: phase)))
      if !changed.wait(until: deadline) { abandon(in: phase, phase == .asking ? .pamNobody : .pamSilent) }
    }
  }

  /// Ends it as the person would who declines.
  func cancel() { abandon(in: nil, VaultError(.cancelled, "cancelled while PAM was asked")) }

  // MARK: the thread of the modules

  /// What the person types, or nil when the conversation is over.
  func ask(_ question: String) -> SecretBytes? {
    guard enter(.asking) else { return nil }
    var request = request
    request.question = Self.name(ofSecret: question)
    request.problem = state.withLock { $0.problem } ?? request.problem
    do throws(VaultError) {
      let answer = try prompt.readSecret(request)
      try check(answer)
      guard enter(.silent) else { return nil }
      return answer
    } catch {
      fail(error)
      return nil
    }
  }

  /// Shows an error (3) or a text (4); false when the conversation is over.
  func show(_ text: String, style: Int32) -> Bool {
    guard style == 3 || style == 4 else {
      fail(VaultError(.verificationUnavailable, "a PAM module asks in a way that is not known"))
      return false
    }
    guard enter(.afterText) else { return false }
    if style == 3 { state.withLock { $0.problem = Self.oneLine(text) } }
    prompt.show(PromptText.visible(Self.oneLine(text)), for: request)
    return true
  }

  /// The modules are through.
  func finish(_ outcome: VaultError?) {
    state.withLock { state in
      state.outcome = outcome
      if state.phase == .abandoned {
        abandonedThreads.subtract(1, ordering: .relaxed)
      } else {
        state.phase = .ended
      }
    }
    changed.signal()
  }
}

extension PAMConversation {
  /// False when nobody waits any more, or when a module talks without end.
  private func enter(_ phase: Phase) -> Bool {
    let isOpen = state.withLock { state in
      guard state.phase != .abandoned, state.failure == nil else { return false }
      state.messages += 1
      guard state.messages <= Self.mostMessages else {
        state.failure = VaultError(.verificationUnavailable, "a PAM module talks without end")
        return false
      }
      state.phase = phase
      return true
    }
    changed.signal()
    return isOpen
  }

  private func fail(_ error: VaultError) {
    state.withLock { state in
      if state.failure == nil { state.failure = error }
      // What the module does now is its own time, not the person's.
      if state.phase != .abandoned { state.phase = .silent }
    }
    changed.signal()
  }

  private func check(_ answer: borrowing SecretBytes) throws(VaultError) {
    guard answer.byteCount <= PAMPresence.longestAnswer else {
      throw VaultError(.malformed, "PAM takes no password longer than \(PAMPresence.longestAnswer) bytes")
    }
    let hasNUL = answer.expose { bytes in
      (0..<bytes.byteCount).contains { unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) == 0 }
    }
    guard !hasNUL else { throw VaultError(.malformed, "a password with a NUL byte is none for PAM") }
  }

  /// "Password:" alone could be any password.
  private static func name(ofSecret question: String) -> String {
    let words = oneLine(question)
    let plain = words.lowercased().prefix { $0 != ":" }
    return plain == "password" || plain.hasPrefix("password for ") ? "login password" : "PAM asks: " + words
  }

  /// Modules end their texts with a line break, and some break them in the middle.
  private static func oneLine(_ text: String) -> String {
    text.split { $0.isNewline }.joined(separator: " ")
  }

  private func limit(of phase: Phase) -> Duration {
    switch phase {
    case .asking: limits.person
    case .afterText: limits.afterText
    case .silent, .ended, .abandoned: limits.silence
    }
  }

  /// The thread of the modules is left to itself.
  ///
  /// - Parameter phase: The phase in which this holds; nil for every one.
  private func abandon(in phase: Phase?, _ failure: VaultError) {
    let wasAsking = state.withLock { state in
      guard state.phase != .ended, state.phase != .abandoned, phase == nil || phase == state.phase else {
        return false
      }
      defer { state.phase = .abandoned }
      if state.failure == nil { state.failure = failure }
      abandonedThreads.add(1, ordering: .relaxed)
      return state.phase == .asking
    }
    if wasAsking { prompt.cancel() }
    changed.signal()
  }

  private static let mostMessages = 100
}

extension VaultError {
  fileprivate static var pamNobody: VaultError {
    VaultError(.cancelled, "nobody answered what PAM asks", prompt: .timeout)
  }
}
