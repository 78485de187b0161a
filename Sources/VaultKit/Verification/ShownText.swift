public import VaultFormat

/// A text that a person sees whole before an answer, such as the data of a transaction that is about to be signed.
///
/// Each of its characters shows as itself, so what the person sees is what is signed: a text with any other character is
/// refused, and never cut or cleaned. It may have lines, which end with LF.
public struct ShownText: Sendable, Hashable {
  /// The text.
  public let text: String

  /// A text from its bytes, which are the bytes that are signed.
  ///
  /// - Parameter bytes: UTF-8, at most 4,096 bytes.
  /// - Throws: ``VaultError/Code/policy`` for more bytes, for bytes that are not UTF-8, and for a character that does not
  ///   show as itself: control characters other than LF, format and bidirectional characters. All spaces of Unicode show, and so
  ///   do joiners where RFC 5892 allows them, and emoji with their joiners and selectors.
  public init(_ bytes: RawSpan) throws(VaultError) {
    guard bytes.byteCount <= Self.mostBytes else { throw Self.refused(Self.isTooLong) }
    let copy = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
    guard let text = String(validating: copy, as: UTF8.self), text.utf8.elementsEqual(copy) else {
      throw Self.refused("is not UTF-8")
    }
    for line in text.split(separator: "\n" as Character) {
      if let flaw = VisibleText.flaw(inWhole: line) { throw Self.refused(flaw) }
    }
    self.text = text
  }

  /// A text from its bytes, as ``init(_:)-(RawSpan)``.
  public init(_ bytes: Span<UInt8>) throws(VaultError) { try self.init(unsafe bytes.bytes) }

  /// A text.
  ///
  /// - Throws: As ``init(_:)-(RawSpan)``.
  public init(_ text: String) throws(VaultError) { try self.init(Array(text.utf8).span) }

  /// Whether it has letters that are written from right to left. A terminal that reorders them may move the numbers between them.
  package var hasRightToLeftLetters: Bool {
    text.unicodeScalars.contains { scalar in Self.rightToLeft.contains { $0.contains(scalar.value) } }
  }

  /// The blocks of Unicode whose characters go from right to left unless they say otherwise.
  private static let rightToLeft: [ClosedRange<UInt32>] = [
    0x0590...0x08FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFF, 0x10800...0x10FFF, 0x1E800...0x1EFFF,
  ]

  private static func refused(_ flaw: String) -> VaultError {
    VaultError(
      .policy, "the text \(flaw): a person could not see what it says",
      hint: "have the other side send a text of at most 4,096 bytes whose characters all show")
  }

  /// The most bytes of a text.
  package static let mostBytes = 4096
  private static let isTooLong = "has more than 4,096 bytes"
}
