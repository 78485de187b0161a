import SecretMemory

/// A place in DER (X.690). It reads nothing beyond its end, and copies nothing.
struct DERCursor {
  private var offset: Int
  private let end: Int

  init(_ range: Range<Int>) { (offset, end) = (range.lowerBound, range.upperBound) }

  var isAtEnd: Bool { offset == end }

  func hasNext(_ tag: UInt8, in der: RawSpan) -> Bool { offset < end && der.byte(at: offset) == tag }

  /// The content of the next element.
  ///
  /// - Throws: ``CryptoError/malformed`` for another tag, and for a length that is not as short as it could be.
  mutating func element(_ tag: UInt8, in der: RawSpan) throws(CryptoError) -> Range<Int> {
    guard hasNext(tag, in: der), offset + 1 < end else { throw .malformed }
    let first = Int(der.byte(at: offset + 1))
    var (start, count) = (offset + 2, first)
    if first >= 0x80 {
      let digits = first - 0x80
      guard 1...3 ~= digits, start + digits <= end else { throw .malformed }
      count = (start..<start + digits).reduce(0) { $0 << 8 | Int(der.byte(at: $1)) }
      start += digits
      guard count >= 0x80, digits == 1 || count >> (8 * (digits - 1)) > 0 else { throw .malformed }
    }
    guard count <= end - start else { throw .malformed }
    offset = start + count
    return start..<offset
  }

  /// The elements of the next SEQUENCE.
  mutating func sequence(in der: RawSpan) throws(CryptoError) -> DERCursor {
    DERCursor(try element(0x30, in: der))
  }

  /// An INTEGER from 0 to 127.
  mutating func small(in der: RawSpan) throws(CryptoError) -> UInt8 {
    let content = try element(0x02, in: der)
    guard content.count == 1, der.byte(at: content.lowerBound) < 0x80 else { throw .malformed }
    return der.byte(at: content.lowerBound)
  }

  /// The magnitude of an INTEGER above 0.
  mutating func positive(in der: RawSpan) throws(CryptoError) -> Range<Int> {
    let content = try element(0x02, in: der)
    guard let first = content.first.map({ der.byte(at: $0) }), first < 0x80 else { throw .malformed }
    guard first == 0 else { return content }
    guard content.count > 1, der.byte(at: content.lowerBound + 1) >= 0x80 else { throw .malformed }
    return content.dropFirst()
  }

  /// The bytes of an OBJECT IDENTIFIER.
  mutating func identifier(in der: RawSpan) throws(CryptoError) -> [UInt8] {
    try element(0x06, in: der).map { der.byte(at: $0) }
  }

  func expectEnd() throws(CryptoError) { guard isAtEnd else { throw .malformed } }
}
