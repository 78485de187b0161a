package import SecretMemory

/// One block of PEM (RFC 7468): base64 between two lines that name what it is. Text outside of blocks is ignored, as other
/// programs write remarks there.
package struct PEMBlock: Sendable {
  /// What the lines name, such as `PRIVATE KEY`.
  package let label: String
  /// Whether headers precede the base64 (RFC 1421): the block is then encrypted in the old way of OpenSSL, and ``content`` is
  /// empty.
  package let hasHeaders: Bool
  /// The bytes.
  package let content: SharedSecret

  /// The most blocks of one text.
  package static var mostBlocks: Int { 64 }

  /// The blocks of a text, in its order; empty if it has none.
  ///
  /// - Throws: ``TextError/malformed(_:member:)`` for a block that does not end, or whose base64 is not canonical.
  package static func blocks(in text: RawSpan) throws(TextError) -> [PEMBlock] {
    var found: [PEMBlock] = []
    var lines = PEMLines()
    while let line = lines.next(in: text) {
      guard let label = label(of: line, word: "BEGIN", in: text) else { continue }
      guard found.count < mostBlocks else { throw .malformed("the text has more than \(mostBlocks) blocks") }
      found.append(try block(label, &lines, in: text))
    }
    return found
  }

  /// A block of public bytes, as a text with 64 characters in a line.
  package static func text(_ label: String, _ bytes: [UInt8]) -> String {
    let base64 = Array(Base64.text(bytes).utf8)
    var text = "-----BEGIN \(label)-----\n"
    for start in stride(from: 0, to: base64.count, by: 64) {
      text += String(decoding: base64[start..<min(start + 64, base64.count)], as: UTF8.self) + "\n"
    }
    return text + "-----END \(label)-----\n"
  }

  private static func block(
    _ label: String, _ lines: inout PEMLines, in text: RawSpan
  ) throws(TextError) -> PEMBlock {
    let start = lines.offset
    var hasHeaders = false
    while let line = lines.next(in: text) {
      if let ended = self.label(of: line, word: "END", in: text) {
        guard ended == label else { break }
        let body = text.extracting(start..<line.lowerBound)
        let content = hasHeaders ? SecretBytes(zeroes: 0) : try Base64.decoded(ignoringSpaces: body)
        return PEMBlock(label: label, hasHeaders: hasHeaders, content: SharedSecret(content))
      }
      if line.contains(where: { text.byte($0) == UInt8(ascii: ":") }) { hasHeaders = true }
    }
    throw .malformed("a block of the text does not end")
  }

  /// What a line of five dashes names.
  private static func label(of line: Range<Int>, word: String, in text: RawSpan) -> String? {
    let (start, end) = (Array("-----\(word) ".utf8), Array("-----".utf8))
    let name = line.dropFirst(start.count).dropLast(end.count)
    guard line.count > start.count + end.count, name.count <= 64,
      zip(line, start).allSatisfy({ text.byte($0) == $1 }),
      zip(line.suffix(end.count), end).allSatisfy({ text.byte($0) == $1 })
    else { return nil }
    let bytes = name.map { text.byte($0) }
    guard bytes.allSatisfy({ 0x20...0x7e ~= $0 }) else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// The lines of a text, without what ends them.
private struct PEMLines {
  private(set) var offset = 0

  mutating func next(in text: RawSpan) -> Range<Int>? {
    guard offset < text.byteCount else { return nil }
    let start = offset
    while offset < text.byteCount, text.byte(offset) != UInt8(ascii: "\n") { offset += 1 }
    var end = offset
    if offset < text.byteCount { offset += 1 }
    while end > start, Base64.isSpace(text.byte(end - 1)) { end -= 1 }
    return start..<end
  }
}

extension RawSpan {
  fileprivate func byte(_ offset: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
}
