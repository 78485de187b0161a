import AgentMessages

/// The fields of a call.
typealias CallContent = AgentFields<AgentCall.Content>

extension HostFile {
  /// The call that opens it.
  var call: (kind: AgentCall.Kind, content: CallContent) {
    var content = CallContent()
    switch self {
    case .descriptor(let number):
      content.set(.descriptor, Int64(number))
      return (.openDescriptor, content)
    case .secret(let path, let channel):
      content.set(.path, path)
      content.set(.channel, channel.rawValue)
      return (.openSecret, content)
    case .credential(let path, let name):
      content.set(.path, path)
      content.set(.name, name)
      return (.openCredential, content)
    case .readable(let path, let doing):
      content.set(.path, path)
      content.set(.name, doing)
      return (.openFile, content)
    case .data(let path, let option):
      content.set(.path, path)
      content.set(.name, option)
      return (.openData, content)
    }
  }

  /// The file of a call; nil if a call of that kind opens none.
  init?(_ kind: AgentCall.Kind, _ content: CallContent) throws(AgentMessageError) {
    switch kind {
    case .openDescriptor: self = .descriptor(Int32(clamping: try content.number(.descriptor)))
    case .openSecret:
      guard let channel = SecretChannel(rawValue: try content.text(.channel)) else {
        throw .wrongValue(AgentCall.Content.channel.rawValue)
      }
      self = .secret(path: try content.text(.path), of: channel)
    case .openCredential: self = .credential(path: try content.text(.path), named: try content.text(.name))
    case .openFile: self = .readable(path: try content.text(.path), doing: try content.text(.name))
    case .openData: self = .data(path: try content.text(.path), option: try content.text(.name))
    default: return nil
    }
  }
}
