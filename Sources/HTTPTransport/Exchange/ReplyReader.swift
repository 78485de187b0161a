import SecretMemory
import TextFormats

/// Takes what a mapping names from a reply: the answer, or the error that it is.
struct ReplyReader {
  private let operation: Mapping.Operation
  private let message: TransportMessage

  init(_ operation: Mapping.Operation, _ message: TransportMessage) {
    (self.operation, self.message) = (operation, message)
  }

  /// Writes the answer as one line.
  func answer(from reply: Reply, into output: SecretText) throws(Refusal) {
    guard !operation.body.isRaw else { return try answerRaw(reply, into: output) }
    let (members, flaw) = self.members(of: reply)
    if let refusal = refusal(reply, members) { throw refusal }
    switch operation.answer {
    case .body: reply.body.expose { output.append($0) }
    case .members(let mapped):
      if let flaw { throw .network("the server's answer is no JSON object: \(flaw)") }
      var answered: [(String, JSON)] = []
      for one in mapped { answered += try member(one, members).map { [$0] } ?? [] }
      write(answered, into: output)
    }
  }

  private func answerRaw(_ reply: Reply, into output: SecretText) throws(Refusal) {
    guard reply.body.byteCount <= Self.longestRaw, reply.headers.byteCount <= Self.longestRaw else {
      throw .network("the server's answer has more than \(Self.longestRaw) bytes")
    }
    var members: [(String, JSON)] = [
      ("status", .integer(Int64(reply.status))), ("headersBase64", .secretBase64(reply.headers)),
    ]
    if reply.body.byteCount > 0 { members.append(("bodyBase64", .secretBase64(reply.body))) }
    write(members, into: output)
  }

  private func write(_ members: [(String, JSON)], into output: SecretText) {
    let head: [(String, JSON)] = [("version", .integer(1)), ("id", .string(message.id))]
    JSON.object(head + members).write(to: output)
    output.write("\n")
  }

  private func member(
    _ mapped: (ours: String, theirs: MemberPath), _ members: [MemberPath: Value]
  ) throws(Refusal) -> (String, JSON)? {
    guard let value = members[mapped.theirs] else { return nil }
    switch value {
    case .text(let text) where mapped.ours.hasSuffix("Base64"): return (mapped.ours, .secretBase64(text))
    case .text, .number, .flag:
      guard !mapped.ours.hasSuffix("Base64"), let json = value.json else { break }
      return (mapped.ours, json)
    case .bytes, .other: break
    }
    throw .network("'\(mapped.theirs.names.joined(separator: "."))' of the server's answer has another type")
  }

  /// The members that the mapping names, and why there are none. An empty body is an object without members.
  private func members(of reply: Reply) -> ([MemberPath: Value], flaw: String?) {
    var wanted: Set<MemberPath> = Set(operation.errors.flatMap(\.members))
    if case .members(let mapped) = operation.answer { wanted.formUnion(mapped.map(\.theirs)) }
    guard reply.body.byteCount > 0 else {
      // A whole object shows its end itself.
      return ([:], reply.hasLength || reply.status == 204 ? nil : "it is empty, and may be cut")
    }
    var reader = BodyReader(reply.body, wanted)
    do throws(TextError) { return (try reader.read(), nil) } catch { return ([:], error.words) }
  }
}

// MARK: Errors

extension ReplyReader {
  private func refusal(_ reply: Reply, _ members: [MemberPath: Value]) -> Refusal? {
    if let rule = operation.errors.first(where: { fits($0, reply, members) }) {
      return refusal(rule, reply, members)
    }
    let words = "the server answered with status \(reply.status) of HTTP"
    switch reply.status {
    case 200...299: return nil
    case 401, 403: return Refusal("ACCESS", words)
    case 502, 503, 504: return .network(words, hint: "try again later")
    default: return .other(words)
    }
  }

  private func fits(_ rule: Mapping.ErrorRule, _ reply: Reply, _ members: [MemberPath: Value]) -> Bool {
    guard rule.statuses.contains(reply.status) else { return false }
    guard let member = rule.member else { return true }
    guard let value = members[member] else { return false }
    return rule.equals == nil || value.comparable == rule.equals
  }

  private func refusal(
    _ rule: Mapping.ErrorRule, _ reply: Reply, _ members: [MemberPath: Value]
  ) -> Refusal {
    let theirs = rule.messageMember.flatMap { members[$0]?.plainText }
    let shown = theirs.flatMap { (1...512).contains($0.utf8.count) ? $0 : nil }
    var attemptsLeft: UInt64?
    if let path = rule.attemptsMember, case .number(let number)? = members[path] { attemptsLeft = number }
    return Refusal(
      rule.code, shown ?? rule.message ?? "the server refused it", hint: rule.hint, attemptsLeft: attemptsLeft
    )
  }

  private static let longestRaw = 64 << 10
}

/// Reads one JSON object, and keeps the members that are wanted. What is not wanted stays in secret memory until it is wiped.
private struct BodyReader {
  private let json: JSONReader
  private let wanted: Set<MemberPath>
  /// The objects on the way to what is wanted.
  private let ways: Set<MemberPath>
  private var found: [MemberPath: Value] = [:]

  init(_ body: SharedSecret, _ wanted: Set<MemberPath>) {
    json = JSONReader(
      ByteReader(body.bytes.copy(), count: body.byteCount), spansLines: true, longestName: 1024)
    self.wanted = wanted
    ways = Set(
      wanted.flatMap { path in (1..<path.names.count).map { MemberPath(names: Array(path.names[..<$0])) } })
  }

  mutating func read() throws(TextError) -> [MemberPath: Value] {
    try object(below: [])
    guard try !json.findLine() else { throw .malformed("there is text after the object") }
    return found
  }

  private mutating func object(below names: [String]) throws(TextError) {
    var seen: Set<String> = []
    try json.object { name throws(TextError) in
      guard seen.insert(name).inserted else { throw .malformed("a member is there twice") }
      let path = MemberPath(names: names + [name])
      let kind = try json.kind()
      if kind == .object, ways.contains(path) {
        if wanted.contains(path) { found[path] = .other }
        try object(below: path.names)
      } else if wanted.contains(path) {
        found[path] = try value(kind)
      } else {
        try json.skip()
      }
    }
  }

  private func value(_ kind: JSONReader.Kind) throws(TextError) -> Value? {
    switch kind {
    case .text: return .text(SharedSecret(try json.secret(limit: 2 << 20)))
    case .number: return try json.number().map { .number($0) } ?? .other
    case .word: return try json.word().map { .flag($0) }
    case .object, .array:
      try json.skip()
      return .other
    }
  }
}
