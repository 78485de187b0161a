import SecretMemory
import TextFormats

/// The texts of a mapping, with the members of a request in them.
struct MessageTexts {
  let message: TransportMessage

  init(_ message: TransportMessage) { self.message = message }

  /// - Returns: `nil` if a member is absent.
  func text(of template: Template) throws(Refusal) -> SharedSecret? {
    let text = SecretText(capacity: 256)
    for part in template.parts {
      switch part {
      case .text(let plain): text.write(plain)
      case .member(let name):
        guard let value = message.members[name] else { return nil }
        guard let part = value.asText else { throw Self.noText(name) }
        part.expose { text.append($0) }
      }
    }
    return SharedSecret(text.copy())
  }

  /// A path, whose members are percent-encoded.
  func encoded(_ template: Template) throws(Refusal) -> String {
    var path = ""
    for part in template.parts {
      switch part {
      case .text(let plain): path += plain
      case .member(let name):
        guard let value = message.members[name] else {
          throw .other("the request has no '\(name)', which the path of the operation needs")
        }
        guard let text = value.comparable, !text.isEmpty, ![".", ".."].contains(text) else {
          throw .other("'\(name)' cannot be a part of a path")
        }
        for byte in text.utf8 { path += PercentEncoding.text(of: byte) }
      }
    }
    return path
  }

  func json(_ fields: [(name: String, value: Template)]) throws(Refusal) -> SecretText {
    var members: [(String, JSON)] = []
    for (name, template) in fields {
      if let member = template.onlyMember {
        guard let value = message.members[member] else { continue }
        guard let json = value.json else { throw Self.noText(member) }
        members.append((name, json))
      } else if let text = try text(of: template) {
        members.append((name, .secretText(text)))
      }
    }
    let text = SecretText()
    JSON.object(members).write(to: text)
    return text
  }

  func form(_ fields: [(name: String, value: Template)]) throws(Refusal) -> SecretText {
    let form = SecretText()
    for (name, template) in fields {
      guard let value = try text(of: template) else { continue }
      if form.byteCount > 0 { form.write("&") }
      for byte in name.utf8 { form.write(PercentEncoding.text(of: byte)) }
      form.write("=")
      value.expose { form.writeSecret($0, through: PercentEncoding.encode, group: 512) }
    }
    return form
  }

  private static func noText(_ member: String) -> Refusal {
    .other("'\(member)' of the request is no text, which the mapping needs")
  }
}
