/// The answer to a call: what it asked for, or why not.
package struct AgentReply: Sendable {
  package enum Tag: UInt8, Sendable {
    case number = 1
    case content, failure
  }

  /// The fields of all answers.
  package enum Content: UInt8, Sendable {
    case secret = 1
    case text, list, isTrue, fileNumber
  }

  /// The fields of all failures. A failure of a prompt has others in it.
  package enum Failure: UInt8, Sendable {
    case kind = 1
    case exit, code, message, hint, attemptsLeft, retrySeconds, retryAttoseconds, promptEnd
    case toolHint, underlying, isFinal
    case number, text, terminal, vault
  }

  package enum Answer: Sendable {
    case content(AgentFields<Content>)
    case failure(AgentFields<Failure>)
  }

  package let number: Int64
  package let answer: Answer
  /// At most one.
  package let descriptors: AgentDescriptors

  package init(_ number: Int64, _ answer: Answer, descriptors: AgentDescriptors = .init()) {
    (self.number, self.answer, self.descriptors) = (number, answer, descriptors)
  }

  package var packet: AgentPacket {
    var fields = AgentFields<Tag>()
    fields.set(.number, number)
    switch answer {
    case .content(let content): fields.set(.content, content)
    case .failure(let failure): fields.set(.failure, failure)
    }
    return AgentPacket(.reply, fields, descriptors: descriptors)
  }

  package init(_ packet: AgentPacket) throws(AgentMessageError) {
    let fields = try packet.fields(of: .reply, as: Tag.self)
    number = try fields.number(.number)
    switch (fields.has(.content), fields.has(.failure)) {
    case (true, false): answer = .content(try fields.fields(.content))
    case (false, true): answer = .failure(try fields.fields(.failure))
    default: throw .missingField(Tag.content.rawValue)
    }
    descriptors = packet.descriptors
  }
}
