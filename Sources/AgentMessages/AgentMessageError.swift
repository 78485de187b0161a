/// Why a connection between a command and the agent is of no more use.
package enum AgentMessageError: Error, Equatable, Sendable {
  /// The other end is gone, or sent an empty packet, which looks the same.
  case gone
  /// The packet has more bytes than a message may have, or its descriptors were cut.
  case tooLong
  /// The packet has no such type.
  case unknownType(UInt8)
  /// The message says another number of descriptors than came with it, or its type takes another number.
  case wrongDescriptors
  /// The packet, a field or a list ends before its bytes do, or has bytes after them.
  case wrongLength
  /// The message has a field that its type does not have.
  case unknownField(UInt8)
  /// The message has a field twice.
  case repeatedField(UInt8)
  /// The message lacks a field that its type needs.
  case missingField(UInt8)
  /// A text is not UTF-8, or has a NUL byte where none can be.
  case notText(UInt8)
  /// A number or a word has a value that nothing means.
  case wrongValue(UInt8)
  /// The other end speaks another protocol.
  case otherProtocol(Int64)
  /// The type of message is not what comes next.
  case unexpected(AgentPacket.Kind)
  /// The socket failed with this error number.
  case failed(Int32)
}
