/// A request: the command line that the agent runs, and what the agent needs to know of the command's process.
///
/// Its message has three descriptors, as in each protocol. In this one they lead to /dev/null, and the agent closes them:
/// ``AgentStandard`` has those of the command.
package struct AgentRun: Sendable {
  package enum Tag: UInt8, Sendable {
    case protocolNumber = 1
    case version, words, variables, vault, device, inode, deviceKey, ignoresBrokenPipes
  }

  /// The vault that the command resolved.
  package struct Vault: Sendable, Equatable {
    package struct Identity: Sendable, Hashable {
      package let device: UInt64
      package let inode: UInt64

      package init(device: UInt64, inode: UInt64) { (self.device, self.inode) = (device, inode) }
    }

    /// An absolute path.
    package let path: String
    /// Which file the command found there; nil if none.
    package let identity: Identity?

    package init(path: String, identity: Identity?) { (self.path, self.identity) = (path, identity) }
  }

  /// The version of the command, which must be that of the agent.
  package var version: String
  /// The arguments, without the name of the program.
  package var words: [String]
  /// The environment variables that verbs read, as far as they are set.
  package var variables: [String: String] {
    Dictionary(variableList.map { ($0.name, $0.value) }) { first, _ in first }
  }
  /// Those of them that say how to print. A keeper takes no others.
  package static let printingVariables = ["NO_COLOR", "TERM"]
  /// A list, because the first dictionary of a process takes it longer than all else that it needs to look for an agent.
  private let variableList: [(name: String, value: String)]
  /// nil for a verb that needs none.
  package var vault: Vault?
  /// The absolute path of the device key that an option or a variable names; nil for the standard place.
  package var deviceKey: String?
  /// Whether SIGPIPE was ignored when the command's process began.
  package var ignoresBrokenPipes: Bool

  package init(
    version: String, words: [String], variables: [(name: String, value: String)] = [], vault: Vault? = nil,
    deviceKey: String? = nil, ignoresBrokenPipes: Bool = false
  ) {
    (self.version, self.words, variableList) = (version, words, variables)
    (self.vault, self.deviceKey, self.ignoresBrokenPipes) = (vault, deviceKey, ignoresBrokenPipes)
  }

  /// - Parameter descriptors: Three of them.
  package func packet(_ descriptors: AgentDescriptors) -> AgentPacket {
    var fields = AgentFields<Tag>()
    fields.set(.protocolNumber, AgentMessages.protocolNumber)
    fields.set(.version, version)
    fields.set(.words, words)
    fields.set(.variables, variableList.flatMap { [$0.name, $0.value] })
    fields.set(.vault, vault?.path)
    fields.set(.device, (vault?.identity?.device).map { Int64(bitPattern: $0) })
    fields.set(.inode, (vault?.identity?.inode).map { Int64(bitPattern: $0) })
    fields.set(.deviceKey, deviceKey)
    fields.set(.ignoresBrokenPipes, ignoresBrokenPipes)
    return AgentPacket(.run, fields, descriptors: descriptors)
  }

  /// The request of a packet.
  ///
  /// - Throws: ``AgentMessageError/otherProtocol(_:)``, or what is wrong with it.
  package init(_ packet: AgentPacket) throws(AgentMessageError) {
    let fields: AgentFields<Tag>
    do throws(AgentMessageError) { fields = try packet.fields(of: .run) } catch {
      // It can have fields that this protocol does not have.
      try Self.checkProtocol(packet.fields(of: .run, as: AnyTag.self).number(AnyTag(.protocolNumber)))
      throw error
    }
    try Self.checkProtocol(fields.number(.protocolNumber))
    self.init(
      version: try fields.text(.version), words: try Self.plain(fields, .words),
      variables: try Self.variables(fields), vault: try Self.vault(fields),
      deviceKey: try fields.ifAny(.deviceKey) { tag throws(AgentMessageError) in try Self.path(fields, tag) },
      ignoresBrokenPipes: try fields.flag(.ignoresBrokenPipes))
  }

  private static func checkProtocol(_ number: Int64) throws(AgentMessageError) {
    guard number == AgentMessages.protocolNumber else { throw .otherProtocol(number) }
  }

  /// What a request of any protocol says: the version and the words of its command.
  package init(ofOtherProtocol packet: AgentPacket) throws(AgentMessageError) {
    let fields = try packet.fields(of: .run, as: AnyTag.self)
    self.init(
      version: try fields.text(AnyTag(.version)), words: try Self.plain(fields, AnyTag(.words)))
  }

  /// A tag of another protocol.
  private struct AnyTag: RawRepresentable, Hashable, Sendable {
    let rawValue: UInt8

    init(rawValue: UInt8) { self.rawValue = rawValue }
    init(_ tag: Tag) { self.init(rawValue: tag.rawValue) }
  }

  private static func vault(_ fields: AgentFields<Tag>) throws(AgentMessageError) -> Vault? {
    guard fields.has(.vault) else {
      guard !fields.has(.device), !fields.has(.inode) else { throw .missingField(Tag.vault.rawValue) }
      return nil
    }
    let path = try path(fields, .vault)
    guard fields.has(.device) || fields.has(.inode) else { return Vault(path: path, identity: nil) }
    let (device, inode) = (try fields.number(.device), try fields.number(.inode))
    return Vault(
      path: path,
      identity: Vault.Identity(device: UInt64(bitPattern: device), inode: UInt64(bitPattern: inode)))
  }

  private static func path(_ fields: AgentFields<Tag>, _ tag: Tag) throws(AgentMessageError) -> String {
    let path = try fields.text(tag)
    guard path.hasPrefix("/"), !path.utf8.contains(0) else { throw .wrongValue(tag.rawValue) }
    return path
  }

  /// Texts as a process can have them: without NUL.
  private static func plain<Key: RawRepresentable<UInt8> & Hashable & Sendable>(
    _ fields: AgentFields<Key>, _ tag: Key
  ) throws(AgentMessageError) -> [String] {
    let list = try fields.list(tag)
    guard !list.contains(where: { $0.utf8.contains(0) }) else { throw .notText(tag.rawValue) }
    return list
  }

  private static func variables(
    _ fields: AgentFields<Tag>
  ) throws(AgentMessageError) -> [(name: String, value: String)] {
    let list = try plain(fields, .variables)
    guard list.count.isMultiple(of: 2) else { throw .wrongLength }
    let variables = stride(from: 0, to: list.count, by: 2).map { (name: list[$0], value: list[$0 + 1]) }
    guard Set(variables.map(\.name)).count == variables.count else {
      throw .wrongValue(Tag.variables.rawValue)
    }
    return variables
  }
}
