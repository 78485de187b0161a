import AgentMessages
import CommandLineKit
import Glibc
import SecretMemory
import VaultKit
import VaultPrompts
import VaultWords

/// What a call gave.
struct RemoteAnswer {
  let content: AgentFields<AgentReply.Content>
  let descriptors: AgentDescriptors
}

extension ClientLink {
  /// Makes a call, whose failure is an error of the command line.
  func ask<Value: ~Copyable>(
    _ kind: AgentCall.Kind, _ content: CallContent, passing descriptors: AgentDescriptors = .init(),
    reading read: (RemoteAnswer) throws(AgentMessageError) -> Value
  ) throws(CommandError) -> Value {
    try ask(
      kind, content, passing: descriptors, reading: read,
      failing: { fields throws(AgentMessageError) in try CommandError(fields) }, lost: { _ in Self.lost })
  }

  /// Makes a call, whose failure is any type of error.
  ///
  /// - Parameters:
  ///   - read: Reads the answer.
  ///   - failing: Reads the failure.
  ///   - lost: The error where there is no answer.
  func ask<Value: ~Copyable, E: Error>(
    _ kind: AgentCall.Kind, _ content: CallContent, passing descriptors: AgentDescriptors = .init(),
    until ending: PromptEnding? = nil,
    reading read: (RemoteAnswer) throws(AgentMessageError) -> Value,
    failing: (FailureMessage) throws(AgentMessageError) -> E, lost: (Failure) -> E
  ) throws(E) -> Value {
    let reply: AgentReply
    do throws(Failure) {
      reply = try call(kind, content, passing: descriptors, until: ending)
    } catch { throw lost(error) }
    let failure: E
    do throws(AgentMessageError) {
      switch reply.answer {
      case .content(let content):
        return try read(RemoteAnswer(content: content, descriptors: reply.descriptors))
      case .failure(let fields): failure = try failing(fields)
      }
    } catch {
      gone()
      throw lost(.gone)
    }
    throw failure
  }

  /// The descriptor of an answer.
  ///
  /// - Throws: Exit 9 if it is a file of an open vault.
  func checked(_ descriptors: [Int32]) throws(CommandError) -> Int32 {
    guard let descriptor = descriptors.first else {
      gone()
      throw Self.lost
    }
    guard !isVaultFile(descriptor) else { throw VaultFiles.refusal("a file that an option names") }
    return descriptor
  }

  /// Nobody reads it: the command has ended, and its verb ends before its commit.
  private static let lost = CommandError(
    .io, "the process of the command is gone", code: VaultError.Code.appCancelled.rawValue)
}
