import TextFormats

/// Reading a mapping. What it does not know is an error.
extension Mapping {
  init(_ json: JSONReader) throws(TextError) {
    try json.object { name throws(TextError) in
      guard operations[name] == nil else { throw .member(name, "is there twice") }
      guard (1...64).contains(name.utf8.count) else { throw .member(name, "is no operation") }
      var reader = OperationReader(json)
      operations[name] = try reader.read()
    }
  }
}

/// Reads the mapping of one operation.
private struct OperationReader {
  private let json: JSONReader
  private var operation = Mapping.Operation()
  private var names: Set<String> = []
  private var send: String?
  private var type: String?
  private var fields: [(name: String, value: Template)] = []

  init(_ json: JSONReader) { self.json = json }

  mutating func read() throws(TextError) -> Mapping.Operation {
    try json.object { name throws(TextError) in
      guard names.insert(name).inserted else { throw .member(name, "is there twice") }
      try readMember(name)
    }
    guard names.contains("method") else { throw .malformed("'method' is missing") }
    operation.body = try body()
    try check()
    return operation
  }

  private mutating func readMember(_ name: String) throws(TextError) {
    switch name {
    case "method": operation.method = try method()
    case "path": operation.path = try path()
    case "send": send = try json.string(limit: 16)
    case "fields": fields = try templates()
    case "headers": operation.headers = try headers()
    case "type": type = try headerValue(json.string(limit: 256))
    case "answer": operation.answer = try answer()
    case "idempotent": operation.isIdempotent = try json.boolean()
    case "errors": operation.errors = try errors()
    default: throw .member(name, "is no member of an operation")
    }
  }

  private func method() throws(TextError) -> Mapping.Method {
    guard let method = try Mapping.Method(rawValue: json.string(limit: 16)) else {
      throw .malformed("a method is GET, POST, PUT, PATCH or DELETE")
    }
    return method
  }

  private func path() throws(TextError) -> Template {
    let text = try json.string(limit: 2048)
    let isVisible = text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }
    guard text.hasPrefix("/"), !text.hasPrefix("//"), isVisible, let path = Template(text) else {
      throw .malformed("a path begins with one '/', and has no space, no '#' and no single brace")
    }
    guard !path.members.contains(where: { $0.hasSuffix("Base64") }) else {
      throw .malformed("a secret cannot be a part of a path, which a server logs")
    }
    return path
  }

  private func templates() throws(TextError) -> [(name: String, value: Template)] {
    var templates: [(name: String, value: Template)] = []
    try json.object { name throws(TextError) in
      guard !templates.contains(where: { $0.name == name }) else { throw .member(name, "is there twice") }
      guard let value = Template(try json.string(limit: 2048)) else {
        throw .malformed("a single brace, or a control character")
      }
      templates.append((name, value))
    }
    return templates
  }

  private func headers() throws(TextError) -> [(name: String, value: Template)] {
    let headers = try templates()
    for (name, _) in headers where !HeaderLine.isName(name) {
      throw .member(name, "is no name of a header, or one that the program sets")
    }
    return headers
  }

  private func headerValue(_ text: String) throws(TextError) -> String {
    guard text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
      throw .malformed("a control character")
    }
    return text
  }

  private func answer() throws(TextError) -> Mapping.AnswerMapping {
    if try json.kind() == .text {
      guard try json.string(limit: 16) == "body" else {
        throw .malformed("an answer is an object or \"body\"")
      }
      return .body
    }
    var members: [(ours: String, theirs: MemberPath)] = []
    try json.object { name throws(TextError) in
      guard !["version", "id", "error", "operation"].contains(name), name.utf8.count <= 64,
        !members.contains(where: { $0.ours == name })
      else { throw .member(name, "cannot be set by a mapping, or is there twice") }
      members.append((name, try memberPath()))
    }
    return .members(members)
  }

  private func memberPath() throws(TextError) -> MemberPath {
    guard let path = MemberPath(try json.string(limit: 512)) else {
      throw .malformed("the name of a member is missing")
    }
    return path
  }

  private func errors() throws(TextError) -> [Mapping.ErrorRule] {
    var rules: [Mapping.ErrorRule] = []
    try json.array { () throws(TextError) in rules.append(try rule()) }
    guard rules.count <= 64 else { throw .malformed("there are more than 64 errors") }
    return rules
  }

  private func rule() throws(TextError) -> Mapping.ErrorRule {
    var rule = Mapping.ErrorRule(statuses: 0...0, code: "")
    var names: Set<String> = []
    try json.object { name throws(TextError) in
      guard names.insert(name).inserted else { throw .member(name, "is there twice") }
      switch name {
      case "status": rule.statuses = try statuses()
      case "member": rule.member = try memberPath()
      case "equals": rule.equals = try json.string(limit: 512)
      case "code": rule.code = try json.string(limit: 32)
      case "message": rule.message = try json.string(limit: 512)
      case "hint": rule.hint = try json.string(limit: 512)
      case "messageMember": rule.messageMember = try memberPath()
      case "attemptsMember": rule.attemptsMember = try memberPath()
      default: throw .member(name, "is no member of an error")
      }
    }
    guard names.contains("status") else { throw .malformed("'status' is missing") }
    guard Self.words.contains(rule.code) else { throw .malformed("'code' is no word of the transport page") }
    guard rule.equals == nil || rule.member != nil else { throw .malformed("'equals' needs 'member'") }
    return rule
  }

  private func statuses() throws(TextError) -> ClosedRange<Int> {
    let text = try json.string(limit: 8)
    if text == "any" { return 100...599 }
    if text.utf8.count == 3, text.hasSuffix("xx"), let hundred = text.first?.wholeNumberValue,
      (1...5).contains(hundred)
    {
      return 100 * hundred...100 * hundred + 99
    }
    guard let status = Int(text), (100...599).contains(status) else {
      throw .malformed("a status is a text like \"404\", \"4xx\" or \"any\"")
    }
    return status...status
  }

  private func body() throws(TextError) -> Mapping.Body {
    guard send == "json" || send == "form" || !names.contains("fields") else {
      throw .malformed("'fields' are of a body that is 'json' or 'form'")
    }
    guard send == "raw" || type == nil else { throw .malformed("'type' is of a body that is 'raw'") }
    switch send {
    case nil: return .none
    case "json": return .json(fields)
    case "form": return .form(fields)
    case "request": return .request
    case "raw": return .raw(type: type)
    default: throw .malformed("'send' is json, form, request or raw")
    }
  }

  private func check() throws(TextError) {
    if operation.body.isRaw {
      guard names.isDisjoint(with: ["path", "headers", "answer", "errors"]) else {
        throw .malformed("with 'raw' there is no 'path', 'headers', 'answer' and 'errors'")
      }
    } else {
      guard operation.path != nil else { throw .malformed("'path' is missing") }
    }
    if case .none = operation.body { return }
    guard operation.method != .get || operation.body.isRaw else { throw .malformed("a GET has no body") }
  }

  /// docs/guides/transport.md, *Errors*.
  private static let words: Set = [
    "NETWORK", "CODE", "SN", "ACCESS", "VERSION", "BLOCKED", "STATE", "NODEVICE", "PINREUSED",
    "SYNCHROFAILED", "FORBIDDEN", "PINREFUSED", "TIMEOUT", "BIOKEY", "DESYNCHRONIZED", "OTHER",
  ]
}
