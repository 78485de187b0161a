import CommandLineKit
package import SecretMemory
import Synchronization
package import VaultKit
import VaultPrompts
import VaultWords

/// Answers the requests of an item's access rule: from the option that gives the secret, or else from a person.
package final class CommandPrompt: GrantPrompt {
  private let secrets: Secrets
  private let asking: any HostPrompt
  /// Whether a request names the program that asks.
  private let namesProgram: Bool
  /// Why the secret of an option could not be read, as an error of the command line.
  private let failure = Mutex<CommandError?>(nil)
  /// The new PIN that a person has typed, for a verb that makes a PIN item and uses it at once: that one use does not ask
  /// again.
  private let newPIN = Mutex<SharedSecret?>(nil)

  /// - Parameter namesProgram: Whether a request that names the program that asks keeps that name: for a request of the agent.
  init(secrets: Secrets, namesProgram: Bool = false) {
    (self.secrets, self.namesProgram) = (secrets, namesProgram)
    asking = secrets.prompt
  }

  package func givenSecret(for request: PromptRequest) throws(VaultError) -> SecretBytes? {
    guard let channel = channel(for: request) else { return nil }
    if request.subject == .pin, let typed = takeNewPIN() { return typed.copy() }
    do throws(CommandError) { return try secrets.given(channel) } catch {
      failure.withLock { $0 = error }
      throw VaultError(error)
    }
  }

  package func readSecret(_ request: PromptRequest) throws(VaultError) -> SecretBytes {
    let channel = channel(for: request)
    guard secrets.invocation.mayPrompt else { throw nobody(channel) }
    try secrets.world.interruption.yieldToClient()
    do throws(VaultError) {
      let answer = try asking.readSecret(named(request))
      if request.subject == .newPIN, !verbHas(.newPIN), verbHas(.pin) {
        newPIN.withLock { $0 = SharedSecret(answer.copy()) }
      }
      return answer
    } catch {
      throw error.code == .interactionNotAllowed ? nobody(channel, because: error) : error
    }
  }

  package func confirm(_ request: PromptRequest) throws(VaultError) -> Bool {
    guard secrets.invocation.mayPrompt else { throw nobody(nil) }
    try secrets.world.interruption.yieldToClient()
    return try asking.confirm(named(request))
  }

  package func allow(_ request: PromptRequest) throws(VaultError) -> GrantAnswer {
    guard secrets.invocation.mayPrompt else { return .once }
    try secrets.world.interruption.yieldToClient()
    return try asking.allow(named(request))
  }

  package func show(_ line: String, for request: PromptRequest) {
    if secrets.invocation.mayPrompt { asking.show(line, for: request) }
  }

  package func cancel() { asking.cancel() }

  /// The failure behind an error that the library threw, once.
  func takeFailure() -> CommandError? {
    failure.withLock { failure in
      defer { failure = nil }
      return failure
    }
  }

  /// The channel that answers a request; nil if no option can. A verb without a channel for a new PIN makes a PIN item
  /// and uses it at once, so its channel for the PIN gives the new one.
  private func channel(for request: PromptRequest) -> SecretChannel? {
    guard request.subject == .newPIN else { return SecretChannel(request.subject) }
    return verbHas(.newPIN) ? .newPIN : .pin
  }

  /// A batch has both channels: its commands share this prompt, and a PIN that was typed for one serves no other.
  private func verbHas(_ channel: SecretChannel) -> Bool {
    channel.isTaken(by: secrets.invocation.verb)
  }

  private func takeNewPIN() -> SharedSecret? {
    newPIN.withLock { newPIN in
      defer { newPIN = nil }
      return newPIN
    }
  }

  /// Names the verb instead of the program that asks, because the person who runs the tool knows it by its verb.
  private func named(_ request: PromptRequest) -> PromptRequest {
    var request = request
    if !namesProgram { request.requester = nil }
    if request.reason == nil { request.reason = secrets.reason }
    request.operation = "vaultctl \(secrets.invocation.verb.name): " + request.operation
    return request
  }

  /// - Parameter cause: Why the prompt could not ask. The hint gives it together with the options that would have
  ///   answered.
  private func nobody(_ channel: SecretChannel?, because cause: VaultError? = nil) -> VaultError {
    let why =
      cause?.message ?? (secrets.invocation.mayPrompt ? "there is nobody to ask" : "asking is switched off")
    guard let channel else {
      return VaultError(
        .interactionNotAllowed, "a person is needed, and \(why)", hint: cause?.advice,
        underlying: cause?.underlying)
    }
    let options = "give " + channel.options.advice
    return VaultError(
      .interactionNotAllowed, "the \(channel.title) is needed, and \(why)",
      hint: cause.flatMap { CommandError($0).hint }.map { options + "; or " + $0 } ?? options,
      underlying: cause?.underlying)
  }
}

extension SecretChannel {
  /// The channel that answers a request; nil if no option can.
  fileprivate init?(_ subject: PromptRequest.Subject) {
    switch subject {
    case .passcode: self = .passcode
    case .applicationPassword: self = .applicationPassword
    case .phrase: self = .phrase
    case .pin: self = .pin
    case .newPIN: self = .newPIN
    case .code: self = .code
    default: return nil
    }
  }
}

extension VaultError {
  /// An error about an option's secret that could not be read, in the form in which it passes through the library.
  fileprivate init(_ error: CommandError) {
    let code: Code =
      switch error.exit {
      case .malformed: .malformed
      case .cancelled: .cancelled
      case .interactionNotAllowed: .interactionNotAllowed
      default: .io
      }
    // No person was asked: the channel could not be read.
    self.init(code, error.message, hint: error.hint.map { Hint($0) }, prompt: .notShown)
  }
}
