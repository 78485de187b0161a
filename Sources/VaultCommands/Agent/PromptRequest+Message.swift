package import AgentMessages
import SecretMemory
package import VaultKit

/// The fields of a request to a person.
package enum PromptRequestField: UInt8, Sendable {
  case subject = 1
  case operation, label, reason, process, executable, problem, question, triesLeft, alternatives, emptyAnswer
  case text
  case parents, name, unit, ownUnit, command, echoes
}

extension PromptRequest {
  /// All of it but what ends it, which stays in the agent.
  package var message: AgentFields<PromptRequestField> {
    var fields = AgentFields<PromptRequestField>()
    fields.set(.subject, Self.number(of: subject))
    fields.set(.operation, operation)
    fields.set(.label, label)
    fields.set(.reason, reason)
    fields.set(.process, requester.map { Int64($0.processID) })
    fields.set(.executable, requester?.executable)
    fields.set(.name, requester?.name)
    fields.set(.parents, (requester?.parents ?? []).flatMap(\.words))
    fields.set(.command, requester?.command?.words ?? [])
    fields.set(.unit, requester?.unit)
    fields.set(.ownUnit, requester?.ownUnit)
    fields.set(.problem, problem)
    fields.set(.question, question)
    fields.set(.triesLeft, triesLeft.map(Int64.init))
    fields.set(.alternatives, alternatives.map { String(Self.number(of: $0)) })
    fields.set(.emptyAnswer, emptyAnswer)
    fields.set(.text, text?.text)
    fields.set(.echoes, echoes)
    return fields
  }

  init(_ fields: AgentFields<PromptRequestField>) throws(AgentMessageError) {
    self.init(
      try Self.subject(of: fields.number(.subject)), operation: try fields.text(.operation),
      label: try fields.ifAny(.label, fields.text), reason: try fields.ifAny(.reason, fields.text),
      requester: try Self.requester(fields), problem: try fields.ifAny(.problem, fields.text))
    question = try fields.ifAny(.question, fields.text)
    triesLeft = try fields.ifAny(.triesLeft, fields.number).map { Int(clamping: $0) }
    for word in try fields.list(.alternatives) {
      guard let number = Int64(word) else { throw .wrongValue(PromptRequestField.alternatives.rawValue) }
      alternatives.append(try Self.subject(of: number))
    }
    emptyAnswer = try fields.ifAny(.emptyAnswer, fields.text)
    echoes = try fields.flag(.echoes)
    if let shown = try fields.ifAny(.text, fields.text) {
      do throws(VaultError) { text = try ShownText(shown) } catch {
        throw .wrongValue(PromptRequestField.text.rawValue)
      }
    }
  }

  private static func requester(
    _ fields: AgentFields<PromptRequestField>
  ) throws(AgentMessageError) -> Requester? {
    guard let process = try fields.ifAny(.process, fields.number) else { return nil }
    var requester = Requester(
      processID: Int32(clamping: process), executable: try fields.ifAny(.executable, fields.text))
    requester.name = try fields.ifAny(.name, fields.text)
    requester.unit = try fields.ifAny(.unit, fields.text)
    requester.ownUnit = try fields.ifAny(.ownUnit, fields.text)
    requester.parents = try processes(in: .parents, of: fields)
    let commands = try processes(in: .command, of: fields)
    guard commands.count <= 1 else { throw .wrongValue(PromptRequestField.command.rawValue) }
    requester.command = commands.first
    return requester
  }

  private static func processes(
    in field: PromptRequestField, of fields: AgentFields<PromptRequestField>
  ) throws(AgentMessageError) -> [Requester] {
    let words = try fields.list(field)
    guard words.count % 3 == 0 else { throw .wrongValue(field.rawValue) }
    var processes: [Requester] = []
    for index in stride(from: 0, to: words.count, by: 3) {
      guard let process = Requester(words: words[index..<index + 3]) else {
        throw .wrongValue(field.rawValue)
      }
      processes.append(process)
    }
    return processes
  }

  /// The subjects in the order of their numbers, which begin with 0.
  private static let subjects: [Subject] = [
    .passcode, .applicationPassword, .phrase, .presence, .finger, .confirmation, .pin, .newPIN, .code,
    .transaction,
  ]

  private static func number(of subject: Subject) -> Int64 {
    guard let index = subjects.firstIndex(of: subject) else {
      preconditionFailure("PromptRequest.number(of:): a subject has no number")
    }
    return Int64(index)
  }

  private static func subject(of number: Int64) throws(AgentMessageError) -> Subject {
    guard subjects.indices.contains(Int(clamping: number)) else {
      throw .wrongValue(PromptRequestField.subject.rawValue)
    }
    return subjects[Int(number)]
  }
}

extension PromptRequest.Requester {
  /// A process in a message: its process, its executable and its name, empty for nil.
  fileprivate var words: [String] { [String(processID), executable ?? "", name ?? ""] }

  fileprivate init?(words: ArraySlice<String>) {
    let words = Array(words)
    guard words.count == 3, let process = Int32(words[0]) else { return nil }
    self.init(processID: process, executable: words[1].isEmpty ? nil : words[1])
    name = words[2].isEmpty ? nil : words[2]
  }
}
