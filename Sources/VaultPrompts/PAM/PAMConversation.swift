import Glibc
import PAMMessages
import SecretMemory
import TextPreparation
import Synchronization
import VaultKit

/// One question to PAM, as seen from this process: it reads what the helper says, and asks the person what PAM's
/// modules ask.
///
/// Every fault ends the conversation as a denial, and ends the helper.
final class PAMConversation: Sendable {
  private let state = Mutex((isCancelled: false, isAsking: false))
  /// Signalled when the conversation is cancelled.
  private let changed: WakePipe
  private let request: PromptRequest
  private let prompt: any Prompt
  private let limits: PAMPresence.Limits

  init(for request: PromptRequest, asking prompt: any Prompt, limits: PAMPresence.Limits) throws(VaultError) {
    changed = try WakePipe()
    (self.request, self.prompt, self.limits) = (request, prompt, limits)
  }

  /// Returns when both steps and the conversation succeeded.
  func verify(user: String, service: String, with helper: PAMPresence.Helper) throws(VaultError) {
    let process = try PAMHelperProcess(helper)
    let nonce = PAMNonce.random()
    guard process.channel.send(PAMRequest(nonce, service: service, user: user).bytes) else { throw .pamEnded }
    let verdict = try converse(process.channel)
    guard verdict.nonce == nonce else { throw .pamNonsense }
    if let denial = verdict.denial { throw denial }
    try requireEnd(of: process.channel)
  }

  /// Ends the conversation, from any thread, as if the person declined.
  func cancel() { end { _ in true } }

  /// Ends the conversation, from any thread, because the answer to its request is no longer wanted. A prompt that looks
  /// at its request ends by itself.
  func end() { end { !($0 is any EndsWithRequest) } }

  private func end(cancelling isCancelled: (any Prompt) -> Bool) {
    let isAsking = state.withLock { state in
      state.isCancelled = true
      return state.isAsking
    }
    if isAsking, isCancelled(prompt) { prompt.cancel() }
    changed.signal()
  }
}

extension PAMConversation {
  /// Passes messages on until the verdict comes.
  private func converse(_ channel: borrowing PAMChannel) throws(VaultError) -> PAMVerdict {
    let end = Deadline(after: limits.whole, by: limits.now)
    var patience = limits.silence
    var problem = request.problem
    for _ in 0...Self.mostMessages {
      switch try next(channel, until: .earlier(of: end, and: Deadline(after: patience, by: limits.now))) {
      case .question(let question):
        try answer(question, after: problem, on: channel)
        patience = limits.silence
      case .error(let text):
        problem = Self.oneLine(text)
        prompt.show(PromptText.visible(Self.oneLine(text)), for: request)
        patience = limits.afterText
      case .text(let text):
        prompt.show(PromptText.visible(Self.oneLine(text)), for: request)
        patience = limits.afterText
      case .verdict(let verdict): return verdict
      case .busy: throw .pamBusy
      }
    }
    throw VaultError(.verificationUnavailable, "a PAM module sends endless messages")
  }

  private func answer(
    _ question: String, after problem: String?, on channel: borrowing PAMChannel
  ) throws(VaultError) {
    let typed = try ask(question, after: problem)
    // A module waits for its answer. A message that came meanwhile is a fault.
    guard try received(channel) == nil else { throw .pamNonsense }
    guard channel.send(answer: typed) else { throw .pamEnded }
  }

  /// Asks the person.
  private func ask(_ question: String, after problem: String?) throws(VaultError) -> SecretBytes {
    var request = request
    request.question = Self.name(ofSecret: question)
    request.problem = problem
    try setAsking(true)
    let answer: SecretBytes
    do throws(VaultError) { answer = try prompt.readSecret(request) } catch {
      try setAsking(false)
      throw error
    }
    try setAsking(false)
    try check(answer)
    return answer
  }

  private func setAsking(_ isAsking: Bool) throws(VaultError) {
    let isCancelled = state.withLock { state in
      state.isAsking = isAsking
      return state.isCancelled
    }
    if isCancelled { throw .pamCancelled }
  }

  private func check(_ answer: borrowing SecretBytes) throws(VaultError) {
    guard answer.byteCount <= PAMMessages.longestAnswer else {
      throw VaultError(.malformed, "PAM accepts passwords of at most \(PAMMessages.longestAnswer) bytes")
    }
    guard !answer.containsNUL else {
      throw VaultError(.malformed, "PAM accepts no password with a NUL byte")
    }
  }

  /// The name of what a module asks for. "Password:" alone could mean any password.
  private static func name(ofSecret question: String) -> String {
    let words = oneLine(question)
    let plain = words.lowercased().prefix { $0 != ":" }
    return plain == "password" || plain.hasPrefix("password for ") ? "login password" : "PAM asks: " + words
  }

  /// Modules end their texts with a line break, and some break them in the middle.
  private static func oneLine(_ text: String) -> String {
    text.split { $0.isNewline }.joined(separator: " ")
  }

  /// More messages than a module has reason for.
  private static let mostMessages = 100
}

extension PAMConversation {
  private func next(
    _ channel: borrowing PAMChannel, until deadline: Deadline
  ) throws(VaultError) -> PAMReport {
    while true {
      if state.withLock({ $0.isCancelled }) { throw .pamCancelled }
      if let message = try received(channel) {
        guard let report = PAMReport(message) else { throw .pamNonsense }
        return report
      }
      guard changed.wait(or: channel.descriptor, until: deadline) else { throw .pamSilent }
    }
  }

  private func received(_ channel: borrowing PAMChannel) throws(VaultError) -> [UInt8]? {
    do throws(PAMChannel.Fault) { return try channel.receive() } catch {
      throw error == .malformed ? .pamNonsense : .pamEnded
    }
  }

  /// Waits for the end of the helper. More messages after the verdict, or unread messages, make the verdict
  /// invalid.
  private func requireEnd(of channel: borrowing PAMChannel) throws(VaultError) {
    let deadline = Deadline(after: limits.silence, by: limits.now)
    while true {
      do throws(PAMChannel.Fault) {
        guard try channel.receive() == nil else { throw .malformed }
      } catch {
        if error == .closed { return }
        throw .pamNonsense
      }
      if state.withLock({ $0.isCancelled }) { throw .pamCancelled }
      guard changed.wait(or: channel.descriptor, until: deadline) else { throw .pamSilent }
    }
  }
}
