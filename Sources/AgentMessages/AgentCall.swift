/// What the agent asks of a command's process, by its kind and fields, and the answer.
///
/// Each call has a number, one more than the one before; its reply and its cancellation repeat it. What the fields mean
/// for which kind is the concern of the two ends, which are in VaultCommands beside each other.
package struct AgentCall: Sendable {
  package enum Kind: UInt8, Sendable {
    // Asking a person.
    case type = 1
    case confirm, show, verifyPresence, enrolledFingers, verifyFinger, allow
    // Files and descriptors.
    case openDescriptor = 20
    case openSecret, openCredential, openFile, exists, isOwn, makeFile, finishFile, dropFile, removeFile,
      openData
    // The clipboard.
    case copy = 40
    // The programs of transports. A text that is longer than a message comes in parts.
    case checkProgram = 60
    case giveRequest, runProgram, takeAnswer
    // Becoming a program.
    case handOver = 80
    // An editor. The text goes, and comes back, as a file in memory.
    case edit = 90
    // A vault that is moved into or out of the keeper.
    case giveVault = 100
    case letGo, takeKey, isVaultThere, forgetVault

    /// Whether a person is asked. The prompt has the signals of the command's process meanwhile.
    package var asksPerson: Bool { rawValue < Kind.openDescriptor.rawValue }

    /// Whether a person, a server or an editor is waited for, so that the call can be cancelled.
    package var isCancellable: Bool { asksPerson || self == .runProgram || self == .edit }
  }

  package enum Tag: UInt8, Sendable {
    case number = 1
    case kind
    case content
  }

  /// The fields of all kinds.
  package enum Content: UInt8, Sendable {
    // A request to a person.
    case request = 1
    case way, limit, isRepeated, line
    // Files and descriptors.
    case path = 20
    case name, channel, descriptor, fileNumber
    // The clipboard.
    case secret = 40
    case seconds
    // Becoming a program.
    case done = 80
    case isConcealed
    // A vault that is moved.
    case vaultMoved = 100
    case keyPlace
  }

  package let number: Int64
  package let kind: Kind
  package let content: AgentFields<Content>
  /// One for ``Kind/handOver`` and ``Kind/edit``, none for the others.
  package let descriptors: AgentDescriptors

  package init(
    _ number: Int64, _ kind: Kind, _ content: AgentFields<Content>, descriptors: AgentDescriptors = .init()
  ) {
    (self.number, self.kind, self.content, self.descriptors) = (number, kind, content, descriptors)
  }

  package var packet: AgentPacket {
    var fields = AgentFields<Tag>()
    fields.set(.number, number)
    fields.set(.kind, Int64(kind.rawValue))
    fields.set(.content, content)
    return AgentPacket(.call, fields, descriptors: descriptors)
  }

  package init(_ packet: AgentPacket) throws(AgentMessageError) {
    let fields = try packet.fields(of: .call, as: Tag.self)
    self.init(
      try fields.number(.number), try fields.value(.kind), try fields.fields(.content, as: Content.self),
      descriptors: packet.descriptors)
    guard descriptors.count == (kind == .handOver || kind == .edit ? 1 : 0) else { throw .wrongDescriptors }
  }
}

/// The end of a call before its reply: the answer is no longer wanted.
package struct AgentCancel: Sendable {
  package enum Tag: UInt8, Sendable { case number = 1 }

  package let number: Int64

  package init(_ number: Int64) { self.number = number }

  package var packet: AgentPacket {
    var fields = AgentFields<Tag>()
    fields.set(.number, number)
    return AgentPacket(.cancel, fields)
  }

  package init(_ packet: AgentPacket) throws(AgentMessageError) {
    number = try packet.fields(of: .cancel, as: Tag.self).number(.number)
  }
}

/// Word that the agent takes the request. It does nothing for it before it has ``AgentStandard``.
package enum AgentBegun {
  package enum Tag: UInt8, Sendable { case unused = 1 }

  package static var packet: AgentPacket { AgentPacket(.begun, AgentFields<Tag>()) }
}

/// Standard input, output and error of the command, for a request that the agent has taken.
package enum AgentStandard {
  package enum Tag: UInt8, Sendable { case unused = 1 }

  package static func packet(_ descriptors: AgentDescriptors) -> AgentPacket {
    AgentPacket(.standard, AgentFields<Tag>(), descriptors: descriptors)
  }

  /// The descriptors of a packet that came.
  ///
  /// - Throws: What is wrong with its fields.
  package static func descriptors(of packet: AgentPacket) throws(AgentMessageError) -> AgentDescriptors {
    _ = try packet.fields(of: .standard, as: Tag.self)
    return packet.descriptors
  }
}

/// Word that a signal came too late: the verb completes its work.
package enum AgentHeld {
  package enum Tag: UInt8, Sendable { case unused = 1 }

  package static var packet: AgentPacket { AgentPacket(.held, AgentFields<Tag>()) }
}
