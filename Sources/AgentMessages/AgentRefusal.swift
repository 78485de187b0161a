/// Why the agent did nothing for a request.
package struct AgentRefusal: Sendable, Equatable {
  package enum Reason: UInt8, Sendable {
    /// The agent has another version than the command.
    case version = 1
    /// The vault is open with another device key, or with the folders of another environment.
    case otherKey
    /// The path of the vault leads to another file than when the command looked.
    case vaultChanged
    /// The agent serves as many vaults or commands as it can, or has waited for the command as long as it does.
    case full
    /// The agent is ending.
    case ending
    /// The agent does not run this verb.
    case verb
    /// A descriptor of the command is a file of a vault that is open.
    case vaultAsInput
  }

  package enum Tag: UInt8, Sendable {
    case reason = 1
    case text
  }

  package let reason: Reason
  /// One line for a person, without a final period.
  package let text: String

  package init(_ reason: Reason, _ text: String) { (self.reason, self.text) = (reason, text) }

  package var packet: AgentPacket {
    var fields = AgentFields<Tag>()
    fields.set(.reason, Int64(reason.rawValue))
    fields.set(.text, text)
    return AgentPacket(.refused, fields)
  }

  package init(_ packet: AgentPacket) throws(AgentMessageError) {
    let fields = try packet.fields(of: .refused, as: Tag.self)
    self.init(try fields.value(.reason), try fields.text(.text))
  }
}
