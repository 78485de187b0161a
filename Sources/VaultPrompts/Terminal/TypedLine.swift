import SecretMemory

/// A line that a terminal gave.
///
/// A terminal that marks what is pasted ("bracketed paste") may have been left so by another program. The marks are no part of
/// the text.
struct TypedLine: ~Copyable {
  /// The line without its newline and without marks.
  let text: SecretBytes
  /// Whether what is pasted goes on after the line.
  private let isOpen: Bool

  /// - Parameter line: With its newline.
  init(_ line: consuming SecretBytes) {
    let (range, isOpen) = line.expose { bytes in
      var (start, end) = (0, bytes.byteCount - 1)
      let isMarked = bytes.has(Self.pasteStart, at: 0, before: end)
      if isMarked { start = Self.pasteStart.count }
      let isClosed = bytes.has(Self.pasteEnd, at: end - Self.pasteEnd.count, before: end)
      if isClosed { end = max(start, end - Self.pasteEnd.count) }
      return (start..<end, isMarked && !isClosed)
    }
    text = line.expose { SecretBytes(copying: $0.extracting(range)) }
    self.isOpen = isOpen
  }

  /// Whether the answer ends with the line. A second Enter adds nothing, nor does the mark at the end of what was pasted with its
  /// newline.
  ///
  /// - Parameter rest: What has arrived after the line; more than ``longestEnd`` bytes are not all of it.
  func isWhole(before rest: borrowing SecretBytes) -> Bool {
    rest.expose { rest in
      var offset = 0
      var isOpen = isOpen
      while offset < rest.byteCount {
        if rest.has(Self.pasteEnd, at: offset, before: rest.byteCount) {
          isOpen = false
          offset += Self.pasteEnd.count
        } else if rest.has([0x0A], at: offset, before: rest.byteCount), !isOpen {
          offset += 1
        } else {
          return false
        }
      }
      return rest.byteCount <= Self.longestEnd
    }
  }

  /// The most bytes that may follow a line: a few Enters, and a mark.
  static let longestEnd = 16
  private static let pasteStart = Array("\u{1B}[200~".utf8)
  private static let pasteEnd = Array("\u{1B}[201~".utf8)
}

extension RawSpan {
  fileprivate func has(_ mark: [UInt8], at offset: Int, before end: Int) -> Bool {
    guard offset >= 0, offset + mark.count <= end else { return false }
    return mark.indices.allSatisfy {
      unsafe unsafeLoad(fromByteOffset: offset + $0, as: UInt8.self) == mark[$0]
    }
  }
}
