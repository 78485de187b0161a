import SecretMemory
import TextFormats

/// Reads a configuration. A member that it does not know is an error: a misspelled one must not end a check in silence.
struct ConfigurationReader {
  private(set) var configuration = Configuration()
  /// The path of the trust anchors.
  private(set) var anchors: String?
  private let bytes: ByteReader
  private let json: JSONReader
  private var names: Set<String> = []

  init(_ text: consuming SecretBytes) {
    let count = text.byteCount
    bytes = ByteReader(text, count: count)
    json = JSONReader(bytes, spansLines: true, longestName: 256)
  }

  mutating func read() throws(TextError) {
    // The line that names the interpreter.
    if try bytes.peek() == UInt8(ascii: "#") { try json.skipLine() }
    try json.object { name throws(TextError) in
      guard names.insert(name).inserted else { throw .member(name, "is there twice") }
      try readMember(name)
    }
    guard try !json.findLine() else { throw .malformed("there is text after the object") }
    guard names.contains("version") else { throw .malformed("'version' is missing") }
    guard !configuration.origins.isEmpty else { throw .malformed("'origins' is missing") }
    guard names.contains("mapping") != names.contains("operations") else {
      throw .malformed("there must be either 'mapping' or 'operations'")
    }
    for host in configuration.pins.keys where !configuration.origins.contains(where: { $0.host == host }) {
      throw .malformed("there are pins for \(host), which is no host of 'origins'")
    }
  }

  private mutating func readMember(_ name: String) throws(TextError) {
    switch name {
    case "version": guard try json.unsigned() == 1 else { throw .malformed("it is not 1") }
    case "origins": configuration.origins = try origins()
    case "mapping": configuration.mapping = try shippedMapping()
    case "operations": configuration.mapping = try Mapping(json)
    case "anchors": anchors = try absolutePath()
    case "pins": configuration.pins = try pins()
    case "proxy": configuration.proxy = try proxy()
    case "seconds": configuration.limit = try seconds()
    case "connectSeconds": configuration.connectLimit = try seconds()
    default: throw .member(name, "is no member of a configuration")
    }
  }

  private func origins() throws(TextError) -> [Origin] {
    var origins: [Origin] = []
    try json.array { () throws(TextError) in
      let text = try json.string(limit: 512)
      guard let address = WebAddress(text), address.isOrigin else {
        throw .malformed("an origin is https://HOST or https://HOST:PORT, without a path")
      }
      origins.append(address.origin)
    }
    guard (1...16).contains(origins.count) else { throw .malformed("1 to 16 origins are needed") }
    return origins
  }

  private func shippedMapping() throws(TextError) -> Mapping {
    guard let mapping = try ShippedMappings.mapping(json.string(limit: 64)) else {
      throw .malformed("no mapping of that name comes with this program; there are \(ShippedMappings.names)")
    }
    return mapping
  }

  private func absolutePath() throws(TextError) -> String {
    let path = try json.string(limit: 4096)
    guard path.hasPrefix("/"), !path.utf8.contains(0) else { throw .malformed("the path is not absolute") }
    return path
  }

  private func pins() throws(TextError) -> [String: [String]] {
    var pins: [String: [String]] = [:]
    try json.object { host throws(TextError) in
      let host = Origin.lowerCase(host)
      guard pins[host] == nil else { throw .member(host, "is there twice") }
      var keys: [String] = []
      try json.array { () throws(TextError) in keys.append(try pin()) }
      guard (1...16).contains(keys.count) else { throw .malformed("a host has 1 to 16 pins") }
      pins[host] = keys
    }
    return pins
  }

  private func pin() throws(TextError) -> String {
    let text = try json.string(limit: 64)
    let digits = text.utf8.dropLast()
    let isBase64 = digits.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "+"), UInt8(ascii: "/"): true
      default: false
      }
    }
    guard text.utf8.count == 44, text.hasSuffix("="), isBase64 else {
      throw .malformed("a pin is the base64 of a SHA-256: 44 characters")
    }
    return text
  }

  private func proxy() throws(TextError) -> Configuration.Proxy {
    let text = try json.string(limit: 512)
    if text == "environment" { return .environment }
    guard WebAddress.isProxy(text) else {
      throw .malformed("a proxy is http://HOST:PORT or socks5h://HOST:PORT, without a password")
    }
    return .address(text)
  }

  private func seconds() throws(TextError) -> Duration {
    let seconds = try json.unsigned()
    guard (1...58).contains(seconds) else { throw .malformed("1 to 58 seconds are possible") }
    return .seconds(seconds)
  }
}
