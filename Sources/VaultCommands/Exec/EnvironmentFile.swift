package import CommandLineKit
package import SecretMemory
import TextFormats
import TextPreparation
import VaultKit
import VaultWords

/// A file with variables for a program: lines `VAR=VALUE`.
///
/// A value that is a reference, all of it, stands for what it means. Any other value is what it is, byte for byte: nothing in it is
/// quoted, escaped, replaced or a remark. Empty lines, and lines whose first visible character is `#`, are left out.
package struct EnvironmentFile {
  /// What the lines hand over, in their order.
  package let handovers: [Handover]
  /// The variables whose value has a reference in braces, as a template has it. Here it is passed as it is.
  let withBraces: [String]

  /// The most bytes of such a file. The kernel gives a program no more.
  static let longest = 2 << 20

  /// What an error calls the file.
  static let title = "file of --env-file"

  /// - Throws: Exit 12 with the number of the line.
  package init(_ file: SharedSecret) throws(CommandError) {
    let text = try SecretReading.unmarked(file.copy(), named: Self.title)
    var (handovers, withBraces) = ([Handover](), [String]())
    try text.exposeElements { bytes throws(CommandError) in
      var (start, line) = (0, 1)
      while start < bytes.count {
        var end = start
        while end < bytes.count, bytes[end] != UInt8(ascii: "\n") { end += 1 }
        // Some programs end lines with CR LF.
        let hasCR = end > start && bytes[end - 1] == UInt8(ascii: "\r")
        let content = bytes.extracting(start..<(hasCR ? end - 1 : end))
        if let handover = try Self.handover(content, "line \(line) of the \(Self.title)") {
          handovers.append(handover)
          if Self.hasBraces(content), case .value(let name) = handover.place { withBraces.append(name) }
        }
        (start, line) = (end + 1, line + 1)
      }
    }
    (self.handovers, self.withBraces) = (handovers, withBraces)
  }

  private static func handover(_ line: Span<UInt8>, _ origin: String) throws(CommandError) -> Handover? {
    var first = 0
    while first < line.count, isBlank(line[first]) { first += 1 }
    guard first < line.count, line[first] != UInt8(ascii: "#") else { return nil }
    var equals = first
    while equals < line.count, line[equals] != UInt8(ascii: "=") { equals += 1 }
    let name = (first..<equals).map { line[$0] }
    guard equals < line.count else {
      throw .malformed("\(origin) has no =", hint: "write VAR=VALUE, or # before a remark")
    }
    guard Handover.isVariable(name) else { throw noVariable(name, origin) }
    return Handover(
      origin: origin, place: .value(of: String(decoding: name, as: UTF8.self)),
      source: try source(line.extracting(equals + 1..<line.count), origin))
  }

  private static func noVariable(_ name: [UInt8], _ origin: String) -> CommandError {
    let isExported = name.starts(with: Array("export ".utf8))
    return .malformed(
      "\(origin) names no variable", hint: isExported ? "leave 'export' out" : Handover.variableHint)
  }

  private static func source(_ value: Span<UInt8>, _ origin: String) throws(CommandError) -> Handover.Source {
    for quote in [UInt8(ascii: "\""), UInt8(ascii: "'")] where value.count > 0 && value[0] == quote {
      guard !isReference(value.extracting(1..<value.count)) else {
        throw .malformed(
          "\(origin) has a reference in quotes", hint: "write it without: nothing is quoted here")
      }
    }
    guard isReference(value) else { return .text(SharedSecret(SecretBytes(copying: value))) }
    let bytes = (0..<value.count).map { value[$0] }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw .malformed("\(origin) has a reference that is not UTF-8")
    }
    return .vault(.field(try VaultReference.read(text, in: origin)))
  }

  private static func isReference(_ value: Span<UInt8>) -> Bool {
    let beginning = (0..<min(value.count, VaultReference.scheme.utf8.count)).map { value[$0] }
    return VaultReference.isMeant(by: String(decoding: beginning, as: UTF8.self))
  }

  private static func hasBraces(_ line: Span<UInt8>) -> Bool {
    var start = 0
    while start + 1 < line.count {
      if line[start] == UInt8(ascii: "{"), line[start + 1] == UInt8(ascii: "{") {
        var next = start + 2
        while next < line.count, isBlank(line[next]) { next += 1 }
        if isReference(line.extracting(next..<line.count)) { return true }
      }
      start += 1
    }
    return false
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
  }
}

extension EnvironmentFile {
  /// What the command line names; `nil` if it names none.
  ///
  /// - Throws: Exit 13 if it cannot be read; exit 12 for what is in it.
  init?(of invocation: Invocation, in world: World) throws(CommandError) {
    guard let path = invocation[Exec.environmentFile] else { return nil }
    try self.init(Self.contents(of: path, by: world.host))
  }

  /// Reads the file, which may be a pipe.
  static func contents(of path: String, by host: any Host) throws(CommandError) -> SharedSecret {
    try host.lend(.readable(path: path, doing: "opening \(printable(path))")) {
      descriptor throws(CommandError) in
      SharedSecret(try SecretReading.all(of: descriptor, limit: longest, named: title))
    }
  }
}
