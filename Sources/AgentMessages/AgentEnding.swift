/// How a verb ended in the agent, and how its command ends.
package enum AgentEnding: Sendable, Equatable {
  /// With this exit code.
  case exit(Int32)
  /// By this signal.
  case signal(Int32)

  package enum Tag: UInt8, Sendable {
    case exit = 1
    case signal
  }

  package var packet: AgentPacket {
    var fields = AgentFields<Tag>()
    switch self {
    case .exit(let code): fields.set(.exit, Int64(code))
    case .signal(let number): fields.set(.signal, Int64(number))
    }
    return AgentPacket(.ended, fields)
  }

  package init(_ packet: AgentPacket) throws(AgentMessageError) {
    let fields = try packet.fields(of: .ended, as: Tag.self)
    switch (fields.has(.exit), fields.has(.signal)) {
    case (true, false): self = .exit(try Self.small(fields, .exit, in: 0...255))
    case (false, true): self = .signal(try Self.small(fields, .signal, in: 1...64))
    default: throw .missingField(Tag.exit.rawValue)
    }
  }

  private static func small(
    _ fields: AgentFields<Tag>, _ tag: Tag, in range: ClosedRange<Int64>
  ) throws(AgentMessageError) -> Int32 {
    let number = try fields.number(tag)
    guard range.contains(number) else { throw .wrongValue(tag.rawValue) }
    return Int32(number)
  }
}

/// A signal that came to the command and ends it.
package struct AgentSignal: Sendable, Equatable {
  package enum Tag: UInt8, Sendable { case number = 1 }

  package let number: Int32

  package init(_ number: Int32) { self.number = number }

  package var packet: AgentPacket {
    var fields = AgentFields<Tag>()
    fields.set(.number, Int64(number))
    return AgentPacket(.signal, fields)
  }

  package init(_ packet: AgentPacket) throws(AgentMessageError) {
    let fields = try packet.fields(of: .signal, as: Tag.self)
    guard let number = Int32(exactly: try fields.number(.number)), (1...64).contains(number) else {
      throw .wrongValue(Tag.number.rawValue)
    }
    self.number = number
  }
}
