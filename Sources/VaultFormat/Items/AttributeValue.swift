/// A type that an attribute can have. The file stores the type with the value, so that bytes are read back as bytes.
package protocol AttributeValue: Sendable {
  /// The tag of the type in the file.
  static var attributeTypeTag: UInt8 { get }
  /// The value's bytes, without the tag.
  var attributeBytes: [UInt8] { get }
  /// The value of these bytes, or `nil` if they do not encode one.
  init?(attributeBytes: [UInt8])
}

extension String: AttributeValue {
  /// The type's tag in the file.
  package static var attributeTypeTag: UInt8 { 1 }
  /// The value's bytes in the file.
  package var attributeBytes: [UInt8] { Array(utf8) }
  /// The value of these bytes.
  package init?(attributeBytes: [UInt8]) {
    guard let text = try? UTF8Span(validating: attributeBytes.span) else { return nil }
    self.init(copying: text)
  }
}

extension [UInt8]: AttributeValue {
  /// The type's tag in the file.
  package static var attributeTypeTag: UInt8 { 2 }
  /// The value's bytes in the file.
  package var attributeBytes: [UInt8] { self }
  /// The value of these bytes.
  package init?(attributeBytes: [UInt8]) { self = attributeBytes }
}

extension Int64: AttributeValue {
  /// The type's tag in the file.
  package static var attributeTypeTag: UInt8 { 3 }
  /// The value's bytes in the file.
  package var attributeBytes: [UInt8] {
    let bits = UInt64(bitPattern: self)
    return (0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * $0)) }
  }
  /// The value of these bytes.
  package init?(attributeBytes: [UInt8]) {
    guard attributeBytes.count == 8 else { return nil }
    self = Int64(bitPattern: attributeBytes.reduce(0) { $0 << 8 | UInt64($1) })
  }
}

extension Bool: AttributeValue {
  /// The type's tag in the file.
  package static var attributeTypeTag: UInt8 { 4 }
  /// The value's bytes in the file.
  package var attributeBytes: [UInt8] { [self ? 1 : 0] }
  /// The value of these bytes.
  package init?(attributeBytes: [UInt8]) {
    guard attributeBytes == [0] || attributeBytes == [1] else { return nil }
    self = attributeBytes == [1]
  }
}

extension Instant: AttributeValue {
  /// The type's tag in the file.
  package static var attributeTypeTag: UInt8 { 5 }
  /// The value's bytes in the file.
  package var attributeBytes: [UInt8] { milliseconds.attributeBytes }
  /// The value of these bytes.
  package init?(attributeBytes: [UInt8]) {
    guard let milliseconds = Int64(attributeBytes: attributeBytes) else { return nil }
    self.init(milliseconds: milliseconds)
  }
}
