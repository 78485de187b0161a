import AgentMessages
import SecretMemory
import TextFormats
import TransportPrograms
import VaultKit

/// Has the process of the command run the programs of transports, with its environment and below it: a signal that ends that process
/// ends them too.
///
/// A request or an answer that is longer than a message goes in parts, each in secret memory.
struct RemoteRunner: ProgramRunner {
  let link: ClientLink

  func check(_ path: String) throws(VaultError) {
    var content = CallContent()
    content.set(.path, path)
    try ask(.checkProgram, content) { _ in }
  }

  func run(
    _ path: String, with request: SharedSecret, until ending: PromptEnding
  ) throws(VaultError) -> SecretBytes {
    var offset = 0
    while request.byteCount - offset > SecretPart.longest {
      try ask(.giveRequest, Self.content(of: request, at: &offset)) { _ in }
    }
    var last = Self.content(of: request, at: &offset)
    last.set(.path, path)
    let text = SecretText()
    var isWhole = try ask(.runProgram, last, until: ending) { answer throws(AgentMessageError) in
      try Self.take(answer, to: text)
    }
    while !isWhole {
      isWhole = try ask(.takeAnswer, CallContent()) { answer throws(AgentMessageError) in
        try Self.take(answer, to: text)
      }
    }
    return text.copy()
  }

  private static func content(of request: SharedSecret, at offset: inout Int) -> CallContent {
    var content = CallContent()
    content.set(.secret, SecretPart.next(of: request, at: &offset))
    return content
  }

  /// - Returns: Whether this is the last part.
  private static func take(_ answer: RemoteAnswer, to text: SecretText) throws(AgentMessageError) -> Bool {
    let part = try answer.content.secret(.secret)
    guard text.byteCount + part.byteCount <= longestAnswer else { throw .tooLong }
    part.expose { text.append($0) }
    return try !answer.content.flag(.isTrue)
  }

  /// The process of the command accepts no more of a program.
  private static let longestAnswer = TransportProgram.Limits().byteCount

  private func ask<Value>(
    _ kind: AgentCall.Kind, _ content: CallContent, until ending: PromptEnding? = nil,
    reading read: (RemoteAnswer) throws(AgentMessageError) -> Value
  ) throws(VaultError) -> Value {
    try link.ask(
      kind, content, until: ending, reading: read,
      failing: { fields throws(AgentMessageError) in try VaultError(fields) },
      lost: { _ in VaultError(.appCancelled, "the process of the command is gone") })
  }
}

/// A part of a text that can be longer than a message.
enum SecretPart {
  /// What leaves room for the other fields of a message.
  static let longest = 48 << 10

  /// The part that begins at `offset`, which moves behind it.
  static func next(of text: SharedSecret, at offset: inout Int) -> SharedSecret {
    let end = min(offset + longest, text.byteCount)
    defer { offset = end }
    let start = offset
    return SharedSecret(text.expose { SecretBytes(copying: $0.extracting(start..<end)) })
  }
}
