/// Which path and fields the operations of the transport page have at a server (docs/guides/http.md, *The mapping*).
package struct Mapping: Sendable {
  package var operations: [String: Operation] = [:]

  package init() {}

  /// One operation.
  package struct Operation: Sendable {
    var method = Method.post
    var path: Template?
    var body = Body.none
    var headers: [(name: String, value: Template)] = []
    var answer = AnswerMapping.members([])
    var isIdempotent = false
    var errors: [ErrorRule] = []

    /// Whether sending it twice is the same as sending it once.
    var mayRepeat: Bool { isIdempotent || [.get, .put, .delete].contains(method) }
  }

  enum Method: String, Sendable {
    case get = "GET"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case delete = "DELETE"
  }

  /// What is sent.
  enum Body: Sendable {
    case none
    case json([(name: String, value: Template)])
    case form([(name: String, value: Template)])
    /// The line of the request.
    case request
    /// `url`, `headersBase64` and `bodyBase64` of the request, with this `Content-Type` if it names none.
    case raw(type: String?)

    var isRaw: Bool {
      if case .raw = self { true } else { false }
    }
  }

  /// What is answered.
  enum AnswerMapping: Sendable {
    case members([(ours: String, theirs: MemberPath)])
    /// The body of the reply.
    case body
  }

  /// A reply that is an error.
  struct ErrorRule: Sendable {
    var statuses: ClosedRange<Int>
    var member: MemberPath?
    var equals: String?
    var code: String
    var message: String?
    var hint: String?
    var messageMember: MemberPath?
    var attemptsMember: MemberPath?

    var members: [MemberPath] { [member, messageMember, attemptsMember].compactMap(\.self) }
  }
}

/// Where a member is in a reply: `a.b` is the member `b` of the object `a`.
struct MemberPath: Hashable, Sendable {
  let names: [String]

  /// - Returns: `nil` for a text that is no path.
  init?(_ text: String) {
    names = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard !names.contains(""), names.count <= 8 else { return nil }
  }

  init(names: [String]) { self.names = names }
}

/// A text with `{NAME}` for members of the request.
struct Template: Sendable {
  enum Part: Equatable, Sendable {
    case text(String)
    case member(String)
  }

  let parts: [Part]

  /// - Returns: `nil` for a brace without its other, an empty name, and control characters.
  init?(_ text: String) {
    guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
    var parts: [Part] = []
    var rest = text[...]
    while let open = rest.firstIndex(of: "{") {
      let after = rest.index(after: open)
      guard let close = rest[after...].firstIndex(of: "}"), close > after else { return nil }
      let name = rest[after..<close]
      guard !rest[..<open].contains("}"), !name.contains("{") else { return nil }
      if open > rest.startIndex { parts.append(.text(String(rest[..<open]))) }
      parts.append(.member(String(name)))
      rest = rest[rest.index(after: close)...]
    }
    guard !rest.contains("}") else { return nil }
    if !rest.isEmpty { parts.append(.text(String(rest))) }
    self.parts = parts
  }

  var members: [String] {
    parts.compactMap { if case .member(let name) = $0 { name } else { nil } }
  }

  /// The member of a text that is nothing but that member.
  var onlyMember: String? {
    if parts.count == 1, case .member(let name) = parts[0] { name } else { nil }
  }
}
