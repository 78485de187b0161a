import VaultStorage

/// The attributes of an item: typed values by code. Codes this version does not know are kept.
public struct Attributes: Sendable, Equatable {
  var record: Record

  /// No attributes.
  public init() { record = Record() }

  init(record: Record) throws(VaultError) {
    let hasKnownTypes = record.allFieldsSatisfy { _, value in (1...5).contains(value.first ?? 0) }
    guard hasKnownTypes else { throw VaultError(.damaged, "an item's attributes are not readable") }
    self.record = record
  }

  /// The value of an attribute; `nil` where it is absent or of another type.
  public subscript<Value: AttributeValue>(_ attribute: Attribute<Value>) -> Value? {
    get {
      guard let bytes = record.slice(attribute.code), bytes.first == Value.attributeTypeTag
      else { return nil }
      return Value(attributeBytes: Array(bytes.dropFirst()))
    }
    set { record[attribute.code] = newValue.map { [Value.attributeTypeTag] + $0.attributeBytes } }
  }

  /// A date, read without a copy; 1970 where it is absent or of another type.
  func date(_ attribute: Attribute<Instant>) -> Instant {
    guard let bytes = record.slice(attribute.code), bytes.first == Instant.attributeTypeTag, bytes.count == 9
    else { return Instant(milliseconds: 0) }
    let bits = bytes.dropFirst().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return Instant(milliseconds: Int64(bitPattern: bits))
  }

  /// Whether the item's name has these bytes.
  func hasName(_ bytes: [UInt8]) -> Bool {
    record.slice(1).map { $0.dropFirst().elementsEqual(bytes) } ?? false
  }

  /// The codes present, ascending.
  package var codes: [UInt16] { record.numbers }

  /// The value's bytes without their type tag: what is indexed and compared.
  func bytes(of code: UInt16) -> [UInt8]? { record.slice(code).map { Array($0.dropFirst()) } }

  /// Every attribute given here has the same bytes there; types are not compared.
  func isContained(in other: Attributes) -> Bool {
    record.allFieldsSatisfy { code, value in
      other.record.slice(code).map { $0.dropFirst() == value.dropFirst() } ?? false
    }
  }

  /// The attributes of `changes` put over these; an attribute set to empty there stays.
  mutating func merge(_ changes: Attributes) {
    for code in changes.codes { record[code] = changes.record[code] }
  }
}
