import SecretMemory
import VaultKit

/// A record in secret memory: its fields are copied out one at a time, the secret ones into secret memory.
struct SecretFields: ~Copyable {
  private let data: SecretBytes
  private let places: [UInt16: Range<Int>]

  /// - Throws: ``RecordError``.
  init(_ data: consuming SecretBytes) throws(RecordError) {
    places = try data.expose { (bytes) throws(RecordError) in
      var cursor = FieldCursor()
      var found: [UInt16: Range<Int>] = [:]
      while let (number, value) = try cursor.next(in: bytes) { found[number] = value }
      return found
    }
    self.data = data
  }

  /// A secret; `nil` where it is absent.
  borrowing func secret(_ number: UInt16, _ counts: ClosedRange<Int>) throws(RecordError) -> SharedSecret? {
    guard let place = try place(number, counts) else { return nil }
    return SharedSecret(data.expose { SecretBytes(copying: $0.extracting(place)) })
  }

  borrowing func text(_ number: UInt16, _ counts: ClosedRange<Int>) throws(RecordError) -> String? {
    guard let bytes = try bytes(number, counts) else { return nil }
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .malformed(number) }
    return text
  }

  borrowing func bytes(_ number: UInt16, _ counts: ClosedRange<Int>) throws(RecordError) -> [UInt8]? {
    guard let place = try place(number, counts) else { return nil }
    return data.expose { $0.extracting(place).array }
  }

  borrowing func integer<I: FixedWidthInteger>(_ number: UInt16, as type: I.Type) throws(RecordError) -> I? {
    let count = I.bitWidth / 8
    return try bytes(number, count...count)?.reduce(I(0)) { $0 << 8 | I(truncatingIfNeeded: $1) }
  }

  static func required<R>(_ number: UInt16, _ value: R?) throws(RecordError) -> R {
    guard let value else { throw .missing(number) }
    return value
  }

  private borrowing func place(
    _ number: UInt16, _ counts: ClosedRange<Int>
  ) throws(RecordError) -> Range<Int>? {
    guard let place = places[number] else { return nil }
    guard counts.contains(place.count) else { throw .malformed(number) }
    return place
  }
}

/// A record that is written in secret memory, its fields in ascending order.
struct SecretFieldWriter {
  private var parts: [(number: UInt16, value: Value)] = []

  private enum Value {
    case plain([UInt8])
    case secret(SharedSecret)

    var byteCount: Int {
      switch self {
      case .plain(let bytes): bytes.count
      case .secret(let secret): secret.byteCount
      }
    }
  }

  mutating func put(_ number: UInt16, _ secret: SharedSecret?) {
    if let secret { parts.append((number, .secret(secret))) }
  }

  mutating func put(_ number: UInt16, _ text: String?) { put(number, text.map { Array($0.utf8) }) }

  mutating func put(_ number: UInt16, _ bytes: [UInt8]?) {
    if let bytes { parts.append((number, .plain(bytes))) }
  }

  mutating func put(_ number: UInt16, _ integer: (some FixedWidthInteger)?) {
    put(number, integer.map { unsafe withUnsafeBytes(of: $0.bigEndian) { unsafe Array($0) } })
  }

  var data: SecretBytes {
    SecretBytes(capacity: parts.reduce(0) { $0 + 6 + $1.value.byteCount }) { output in
      for (number, value) in parts {
        let head = [8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
        let length = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value.byteCount >> $0) }
        unsafe output.append(copying: (head + length).span.bytes)
        switch value {
        case .plain(let bytes): unsafe output.append(copying: bytes.span.bytes)
        case .secret(let secret): secret.expose { output.append(copying: $0) }
        }
      }
    }
  }
}
