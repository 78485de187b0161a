package import SecretMemory

/// One message: its type, its fields as bytes, and its descriptors.
package struct AgentPacket: Sendable {
  /// The types of messages. Their table is in ``AgentMessages``.
  package enum Kind: UInt8, Sendable {
    case run = 1
    case reply = 2
    case signal = 3
    case standard = 4
    case refused = 65
    case call = 66
    case cancel = 67
    case held = 68
    case ended = 69
    case begun = 70

    /// How many descriptors a message of this type has.
    var descriptorCounts: ClosedRange<Int> {
      switch self {
      case .run, .standard: 3...3
      case .reply, .call: 0...1
      case .signal, .refused, .cancel, .held, .ended, .begun: 0...0
      }
    }
  }

  package let kind: Kind
  package let descriptors: AgentDescriptors
  /// The fields as bytes.
  private let body: SharedSecret

  package init<Tag>(_ kind: Kind, _ fields: AgentFields<Tag>, descriptors: AgentDescriptors = .init()) {
    (self.kind, self.descriptors) = (kind, descriptors)
    body = SharedSecret(fields.bytes)
  }

  /// A packet that came.
  ///
  /// - Throws: What its first two bytes are wrong in.
  package init(_ bytes: RawSpan, descriptors: AgentDescriptors) throws(AgentMessageError) {
    guard bytes.byteCount > 0 else { throw .gone }
    guard bytes.byteCount <= AgentMessages.longest else { throw .tooLong }
    guard bytes.byteCount >= 2 else { throw .wrongLength }
    let (type, said) = unsafe (
      bytes.unsafeLoad(fromByteOffset: 0, as: UInt8.self), bytes.unsafeLoad(fromByteOffset: 1, as: UInt8.self)
    )
    guard let kind = Kind(rawValue: type) else { throw .unknownType(type) }
    guard Int(said) == descriptors.count, kind.descriptorCounts.contains(descriptors.count) else {
      throw .wrongDescriptors
    }
    (self.kind, self.descriptors) = (kind, descriptors)
    body = SharedSecret(SecretBytes(copying: bytes.extracting(droppingFirst: 2)))
  }

  /// The message as it is sent.
  ///
  /// - Throws: ``AgentMessageError/tooLong``.
  package func bytes() throws(AgentMessageError) -> SecretBytes {
    guard body.byteCount + 2 <= AgentMessages.longest else { throw .tooLong }
    return body.expose { body in
      SecretBytes(capacity: body.byteCount + 2) { output in
        unsafe output.append(kind.rawValue, as: UInt8.self)
        unsafe output.append(UInt8(descriptors.count), as: UInt8.self)
        output.append(copying: body)
      }
    }
  }

  /// The fields, which are those of its type.
  ///
  /// - Throws: What is wrong with them, or ``AgentMessageError/unexpected(_:)`` for a packet of another type.
  package func fields<Tag>(
    of kind: Kind, as tag: Tag.Type = Tag.self
  ) throws(AgentMessageError) -> AgentFields<Tag> {
    guard self.kind == kind else { throw .unexpected(self.kind) }
    return try body.expose { (bytes) throws(AgentMessageError) in try AgentFields<Tag>(bytes) }
  }
}
