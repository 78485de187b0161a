import AgentMessages
import Glibc
import SecretMemory
import TextPreparation
import VaultKit
import VaultPrompts

/// A prompt that the process of the command shows.
struct RemotePrompt: HostPrompt {
  let link: ClientLink
  let way: AutomaticPrompt.Way

  func readSecret(_ request: PromptRequest) throws(VaultError) -> SecretBytes {
    do throws(PromptFailure) {
      return try type(request, limit: TypedSecret.longest, isRepeated: false)
    } catch { throw VaultError(failure: error) }
  }

  func type(
    _ request: PromptRequest, limit: Int, isRepeated: Bool
  ) throws(PromptFailure) -> SecretBytes {
    var content = content(of: request)
    content.set(.limit, Int64(limit))
    content.set(.isRepeated, isRepeated)
    do throws(PromptFailure) {
      return try link.sayingWhyTypingEnded { () throws(PromptFailure) in
        try link.ask(
          .type, content, until: request.ending,
          reading: { answer throws(AgentMessageError) in
            try answer.content.secret(.secret).expose { SecretBytes(copying: $0) }
          },
          failing: { fields throws(AgentMessageError) in try PromptFailure(fields) },
          lost: { $0 == .cancelled ? .pinentry(link.unaskedPrompt) : .terminal(.signalled(SIGHUP)) })
      }
    } catch {
      // The signal ends the process of the command: the verb has nothing more to say.
      if case .terminal(.signalled(let number)) = error { link.interruption.came(number) }
      throw error
    }
  }

  func confirm(_ request: PromptRequest) throws(VaultError) -> Bool {
    try link.verify(.confirm, content(of: request), until: request.ending) {
      answer throws(AgentMessageError) in try answer.content.flag(.isTrue)
    }
  }

  func allow(_ request: PromptRequest) throws(VaultError) -> GrantAnswer {
    try link.verify(.allow, content(of: request), until: request.ending) {
      answer throws(AgentMessageError) in
      guard let allowed = GrantAnswer(typed: try answer.content.text(.text)) else {
        throw .wrongValue(AgentReply.Content.text.rawValue)
      }
      return allowed
    }
  }

  func show(_ line: String, for request: PromptRequest) {
    var content = content(of: request)
    content.set(.line, line)
    try? link.verify(.show, content) { _ in }
  }

  func cancel() { link.cancelOpen() }

  private func content(of request: PromptRequest) -> CallContent {
    var content = CallContent()
    content.set(.request, request.message)
    content.set(.way, way.rawValue)
    return content
  }
}

/// PAM in the process of the command, which shows the questions of its modules.
struct RemotePresence: PresenceSource {
  let link: ClientLink

  func verifyPresence(_ request: PromptRequest, asking prompt: any Prompt) throws(VaultError) {
    var content = CallContent()
    content.set(.request, request.message)
    try link.verify(.verifyPresence, content, until: request.ending) { _ in }
  }

  func cancel() { link.cancelOpen() }
}

/// The fingerprint reader of the process of the command, which shows what the person should see.
struct RemoteReader: BiometrySource {
  let link: ClientLink

  func enrolledFingers() throws(VaultError) -> [String] {
    try link.verify(.enrolledFingers, CallContent()) { answer throws(AgentMessageError) in
      try answer.content.list(.list)
    }
  }

  func verify(_ request: PromptRequest, showing progress: (String) -> Void) throws(VaultError) -> String? {
    var content = CallContent()
    content.set(.request, request.message)
    return try link.verify(.verifyFinger, content, until: request.ending) {
      answer throws(AgentMessageError) in
      try answer.content.ifAny(.text, answer.content.text)
    }
  }

  func cancel() { link.cancelOpen() }
}

extension ClientLink {
  /// Makes a call that asks a person, whose failure is an error of the library.
  fileprivate func verify<Value>(
    _ kind: AgentCall.Kind, _ content: CallContent, until ending: PromptEnding? = nil,
    reading read: (RemoteAnswer) throws(AgentMessageError) -> Value
  ) throws(VaultError) -> Value {
    do throws(VaultError) {
      return try sayingWhyEnded { () throws(VaultError) in
        try ask(
          kind, content, until: ending, reading: read,
          failing: { fields throws(AgentMessageError) in try VaultError(fields) }, lost: unasked)
      }
    } catch {
      if error.promptOutcome == .signal { interruption.came(SIGTERM) }
      throw error
    }
  }

  private func unasked(_ failure: Failure) -> VaultError {
    switch failure {
    case .cancelled: unaskedPrompt
    case .gone: VaultError(.appCancelled, "the process of the command is gone", prompt: .signal)
    }
  }
}
