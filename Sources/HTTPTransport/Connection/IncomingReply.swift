import SecretMemory
import TextFormats

/// What a server sends, gathered in secret memory under its limits.
final class IncomingReply {
  static let mostBytes = 1 << 20
  private static let longestHeader = 8 << 10
  private static let mostHeaderBytes = 64 << 10

  private let bodyText = SecretText(capacity: 8 << 10)
  private var headerText = SecretText()
  /// Why the transfer was ended here.
  private(set) var flaw: String?
  /// Whether the headers have come to their end: libcurl takes a connection that ends before for the end of the reply.
  private(set) var hasAllHeaders = false
  /// Whether the reply says where its body ends. If not, the end of the connection is its end, and may be too early.
  private(set) var hasLength = false
  /// Whether bytes of the request may have been sent. What libcurl counts and measures does not tell: it differs between versions,
  /// and can be 0 although the server has read a part.
  private(set) var isAskedFor = false

  var body: SharedSecret { SharedSecret(bodyText.copy()) }
  var headers: SharedSecret { SharedSecret(headerText.copy()) }

  /// The object that libcurl was given.
  static func of(_ context: UnsafeMutableRawPointer?) -> IncomingReply {
    unsafe Unmanaged<IncomingReply>.fromOpaque(context!).takeUnretainedValue()
  }

  /// Called when the connection stands, with TLS, before the first byte of the request.
  func beginRequest() { isAskedFor = true }

  /// - Returns: `count`, or 0 to end the transfer.
  func takeBody(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
    guard bodyText.byteCount + count <= Self.mostBytes else {
      return end("the server's answer has more than \(Self.mostBytes) bytes")
    }
    unsafe bodyText.append(UnsafeRawBufferPointer(start: bytes, count: count).bytes)
    return count
  }

  /// Takes one line. One that begins with `HTTP/` begins the headers of another reply, after a "100 Continue".
  func takeHeader(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
    guard count <= Self.longestHeader else {
      return end("the server sent a header of more than \(Self.longestHeader) bytes")
    }
    let span = unsafe UnsafeRawBufferPointer(start: bytes, count: count).bytes
    let line = span.extracting(Self.trimmed(span))
    // The line of the status, or the empty line at the end; or a trailer, which is no header.
    if line.byteCount >= 5, Self.begins(line, "HTTP/") {
      headerText = SecretText()
      (hasAllHeaders, hasLength) = (false, false)
      return count
    }
    guard line.byteCount > 0 else {
      hasAllHeaders = true
      return count
    }
    guard !hasAllHeaders else { return count }
    guard headerText.byteCount + count + 1 <= Self.mostHeaderBytes else {
      return end("the server sent more than \(Self.mostHeaderBytes) bytes of headers")
    }
    guard let colon = Self.colon(in: line), HeaderLine.isValue(line.extracting(colon..<line.byteCount)) else {
      return end("the server sent a malformed header")
    }
    let name = lowerCase(line.extracting(0..<colon))
    if Self.isEqual(name, "content-length") || Self.isEqual(name, "transfer-encoding") { hasLength = true }
    write(name, line.extracting(colon + 1..<line.byteCount))
    return count
  }

  private func end(_ flaw: String) -> Int {
    self.flaw = flaw
    return 0
  }

  private func lowerCase(_ name: RawSpan) -> SecretBytes {
    SecretBytes(capacity: name.byteCount) { output in
      for offset in 0..<name.byteCount {
        let byte = Self.byte(name, offset)
        output.append(byte: (0x41...0x5A).contains(byte) ? byte + 0x20 : byte)
      }
    }
  }

  private func write(_ name: borrowing SecretBytes, _ value: RawSpan) {
    name.expose { headerText.append($0) }
    headerText.write(": ")
    headerText.append(value.extracting(Self.trimmed(value)))
    headerText.write("\n")
  }

  /// Where the name ends; `nil` if the line does not begin with a name.
  private static func colon(in line: RawSpan) -> Int? {
    for offset in 0..<line.byteCount {
      let byte = byte(line, offset)
      if byte == UInt8(ascii: ":") { return offset > 0 ? offset : nil }
      guard HeaderLine.isTokenByte(byte) else { return nil }
    }
    return nil
  }

  /// Where the bytes are without white space around them.
  private static func trimmed(_ span: RawSpan) -> Range<Int> {
    func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A }
    var (start, end) = (0, span.byteCount)
    while end > start, isSpace(byte(span, end - 1)) { end -= 1 }
    while start < end, isSpace(byte(span, start)) { start += 1 }
    return start..<end
  }

  private static func begins(_ line: RawSpan, _ text: StaticString) -> Bool {
    (0..<text.utf8CodeUnitCount).allSatisfy { unsafe byte(line, $0) == text.utf8Start[$0] }
  }

  private static func isEqual(_ name: borrowing SecretBytes, _ text: StaticString) -> Bool {
    name.byteCount == text.utf8CodeUnitCount && name.expose { begins($0, text) }
  }

  private static func byte(_ span: RawSpan, _ offset: Int) -> UInt8 {
    unsafe span.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }
}
