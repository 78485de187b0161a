import SecretMemory
import TextFormats

/// A request of HTTP: what a mapping makes of a request of `vaultctl`.
struct OutgoingRequest {
  let method: Mapping.Method
  let address: WebAddress
  /// `Name: value` without a line end.
  private(set) var headers: [SharedSecret] = []
  let body: SharedSecret?
  let mayRepeat: Bool
  /// What has a proof that names the address is not sent to another one.
  let followsRedirections: Bool
  let isRaw: Bool

  init(
    _ message: TransportMessage, by operation: Mapping.Operation, _ configuration: Configuration
  ) throws(Refusal) {
    let texts = MessageTexts(message)
    method = operation.method
    mayRepeat = operation.mayRepeat
    isRaw = operation.body.isRaw
    followsRedirections = !isRaw
    address = try Self.address(texts, operation, configuration)
    body = try Self.body(texts, operation.body)
    var names: Set<String> = []
    if isRaw {
      headers = try RawHeaders.lines(of: message, names: &names)
    } else {
      for (name, template) in operation.headers {
        guard let value = try texts.text(of: template) else { continue }
        guard value.expose({ HeaderLine.isValue($0) }) else {
          throw .other("the value of the header \(name) would have a control character")
        }
        names.insert(Origin.lowerCase(name))
        add(name, value)
      }
    }
    if let type = operation.body.type, body != nil, !names.contains("content-type") {
      add("Content-Type", type)
    }
    if !names.contains("accept") { add("Accept", "application/json") }
  }

  private mutating func add(_ name: String, _ value: String) {
    headers.append(SharedSecret(SecretBytes(copying: Array("\(name): \(value)".utf8))))
  }

  private mutating func add(_ name: String, _ value: SharedSecret) {
    let line = SecretText(capacity: name.utf8.count + 2 + value.byteCount)
    line.write("\(name): ")
    value.expose { line.append($0) }
    headers.append(SharedSecret(line.copy()))
  }

  private static func address(
    _ texts: MessageTexts, _ operation: Mapping.Operation, _ configuration: Configuration
  ) throws(Refusal) -> WebAddress {
    guard let path = operation.path else {
      guard let text = texts.message.members["url"]?.plainText, let address = WebAddress(text) else {
        throw .other("the request has no 'url' with https and without a user and a fragment")
      }
      guard configuration.origins.contains(address.origin) else {
        throw .other(
          "\(address.origin.text) is not one of the origins of the configuration",
          hint: "add it to 'origins', if it is the right server")
      }
      return address
    }
    let text = configuration.origins[0].text + (try texts.encoded(path))
    // A path from members, which cannot leave the origin: it begins with '/', and members are percent-encoded.
    guard let address = WebAddress(text), address.origin == configuration.origins[0] else {
      throw .other("the path of the operation makes no address")
    }
    return address
  }

  private static func body(_ texts: MessageTexts, _ body: Mapping.Body) throws(Refusal) -> SharedSecret? {
    switch body {
    case .none: return nil
    case .json(let fields): return SharedSecret(try texts.json(fields).copy())
    case .form(let fields): return SharedSecret(try texts.form(fields).copy())
    case .request: return texts.message.line
    case .raw:
      guard case .bytes(let bytes)? = texts.message.members["bodyBase64"] else { return nil }
      return bytes
    }
  }
}

extension Mapping.Body {
  /// The type that the body has unless the request names one.
  fileprivate var type: String? {
    switch self {
    case .none: nil
    case .json, .request: "application/json"
    case .form: "application/x-www-form-urlencoded"
    case .raw(let type): type
    }
  }
}

/// The headers of a raw request.
private enum RawHeaders {
  /// - Parameter names: Gets their names, in lower case.
  static func lines(of message: TransportMessage, names: inout Set<String>) throws(Refusal) -> [SharedSecret]
  {
    guard let value = message.members["headersBase64"] else { return [] }
    guard case .bytes(let bytes) = value else { throw malformed }
    let (ends, colons) = bytes.expose { places(in: $0) }
    guard let ends, ends.count <= 64 else { throw malformed }
    var lines: [SharedSecret] = []
    var start = 0
    for (end, colon) in zip(ends, colons) {
      let name = bytes.expose { span in
        unsafe span.extracting(start..<colon).withUnsafeBytes {
          unsafe String(decoding: $0, as: UTF8.self)
        }
      }
      guard HeaderLine.isName(name) else { throw malformed }
      names.insert(Origin.lowerCase(name))
      lines.append(SharedSecret(bytes.expose { SecretBytes(copying: $0.extracting(start..<end)) }))
      start = end + 1
    }
    return lines
  }

  /// Where each line ends and where its colon is; `nil` if a line has none, or has a control character.
  private static func places(in span: RawSpan) -> (ends: [Int]?, colons: [Int]) {
    var (ends, colons): ([Int], [Int]) = ([], [])
    var colon: Int?
    for offset in 0..<span.byteCount {
      let byte = unsafe span.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
      if byte == UInt8(ascii: "\n") {
        guard let place = colon else { return (nil, []) }
        ends.append(offset)
        colons.append(place)
        colon = nil
      } else if byte < 0x20 || byte == 0x7F {
        return (nil, [])
      } else if byte == UInt8(ascii: ":"), colon == nil {
        colon = offset
      }
    }
    let isComplete = ends.last.map { $0 == span.byteCount - 1 } ?? (span.byteCount == 0)
    return (isComplete ? ends : nil, colons)
  }

  private static var malformed: Refusal {
    .other("'headersBase64' has not lines of 'Name: value', or a header that the program sets")
  }
}
