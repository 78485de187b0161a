import SecretMemory

/// Names and lines of headers.
enum HeaderLine {
  /// Whether a text is the name of a header that a mapping or a request may set: a token (RFC 9110 §5.1), but none that
  /// decides how the message is framed or where it goes.
  static func isName(_ name: String) -> Bool {
    let isToken = !name.isEmpty && name.utf8.count <= 64 && name.utf8.allSatisfy(isTokenByte)
    return isToken && !reserved.contains(Origin.lowerCase(name))
  }

  static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }

  private static let reserved: Set = [
    "host", "content-length", "transfer-encoding", "connection", "expect", "te", "trailer", "upgrade",
    "proxy-authorization", "proxy-connection", "accept-encoding",
  ]

  /// Whether bytes can be the value of a header: no control character, which would begin another header.
  static func isValue(_ bytes: RawSpan) -> Bool {
    for offset in 0..<bytes.byteCount {
      let byte = unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
      guard byte >= 0x20, byte != 0x7F else { return false }
    }
    return true
  }
}
