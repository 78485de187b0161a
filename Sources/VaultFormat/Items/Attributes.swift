import VaultCrypto
import VaultStorage

/// The attributes of an item: typed values by code. Codes this version does not know are kept.
public struct Attributes: Sendable, Equatable {
  /// The attributes of an opened item share one buffer with those of the items opened with it. They are decoded on
  /// access.
  private var fields = RecordView()

  /// No attributes.
  public init() {}

  /// - Precondition: ``areReadable(_:)`` has accepted these bytes.
  package init(checked bytes: ArraySlice<UInt8>) { fields = RecordView(checked: bytes) }

  /// Whether bytes are a record of attributes, each with a known type and the length of that type.
  package static func areReadable(_ bytes: RawSpan) -> Bool {
    (try? Record.check(bytes, byteCountsByTag: byteCountsByTag)) != nil
  }

  /// String, bytes, integer, boolean, date.
  private static let byteCountsByTag = [-1, -1, 8, 1, 8]

  /// The attributes as a record of their own.
  package var record: Record {
    get { fields.record }
    set { fields = RecordView(newValue) }
  }

  /// A text; `nil` where it is absent or of another type.
  public subscript(_ attribute: Attribute<String>) -> String? {
    get {
      // Read without a copy of its bytes.
      guard let bytes = fields[attribute.code], bytes.first == String.attributeTypeTag,
        let text = try? UTF8Span(validating: bytes.span.extracting(droppingFirst: 1))
      else { return nil }
      return String(copying: text)
    }
    set { set(newValue, at: attribute.code) }
  }

  /// Bytes; `nil` where they are absent or of another type.
  public subscript(_ attribute: Attribute<[UInt8]>) -> [UInt8]? {
    get { value(attribute.code) }
    set { set(newValue, at: attribute.code) }
  }

  /// A number; `nil` where it is absent or of another type.
  public subscript(_ attribute: Attribute<Int64>) -> Int64? {
    get { value(attribute.code) }
    set { set(newValue, at: attribute.code) }
  }

  /// Yes or no; `nil` where it is absent or of another type.
  public subscript(_ attribute: Attribute<Bool>) -> Bool? {
    get { value(attribute.code) }
    set { set(newValue, at: attribute.code) }
  }

  /// A date; `nil` where it is absent or of another type.
  public subscript(_ attribute: Attribute<Instant>) -> Instant? {
    get { value(attribute.code) }
    set { set(newValue, at: attribute.code) }
  }

  private func value<Value: AttributeValue>(_ code: UInt16) -> Value? {
    guard let bytes = fields[code], bytes.first == Value.attributeTypeTag else { return nil }
    return Value(attributeBytes: Array(bytes.dropFirst()))
  }

  private mutating func set<Value: AttributeValue>(_ value: Value?, at code: UInt16) {
    change { $0[code] = value.map { [Value.attributeTypeTag] + $0.attributeBytes } }
  }

  /// Lends bytes without a copy; `nil` where they are absent or of another type.
  package func lending<R>(_ attribute: Attribute<[UInt8]>, _ body: (RawSpan) -> R?) -> R? {
    guard let bytes = fields[attribute.code], bytes.first == [UInt8].attributeTypeTag else { return nil }
    return unsafe body(bytes.span.bytes.extracting(droppingFirst: 1))
  }

  /// The identifier of an item, read without a copy; `nil` where it is absent, of another type or of another length.
  package func itemID(_ attribute: Attribute<[UInt8]>) -> ItemID? {
    lending(attribute) { $0.byteCount == 16 ? ItemID(Bytes16($0)) : nil }
  }

  /// A date, read without a copy; 1970 where it is absent or of another type.
  package func date(_ attribute: Attribute<Instant>) -> Instant {
    guard let bytes = fields[attribute.code], bytes.first == Instant.attributeTypeTag, bytes.count == 9
    else { return Instant(milliseconds: 0) }
    let bits = bytes.dropFirst().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return Instant(milliseconds: Int64(bitPattern: bits))
  }

  /// Whether the item's name has these bytes.
  package func hasName(_ bytes: [UInt8]) -> Bool {
    fields[1].map { $0.dropFirst().elementsEqual(bytes) } ?? false
  }

  /// The codes present, ascending.
  package var codes: [UInt16] { fields.numbers }

  package var isEmpty: Bool { fields.encoded.isEmpty }

  /// The length of the attributes' record.
  package var byteCount: Int { fields.encoded.count }

  /// The value's bytes without their type tag: what is indexed and compared.
  package func bytes(of code: UInt16) -> [UInt8]? {
    fields.value(code).map { Array(fields.encoded[$0.dropFirst()]) }
  }

  /// Whether `others` has each of these attributes with the same bytes; types are not compared.
  ///
  /// - Parameter others: Bytes that ``areReadable(_:)`` accepts.
  package func areContained(in others: RawSpan) -> Bool {
    let own = unsafe fields.encoded.span.bytes
    var (wanted, present) = (FieldCursor(), FieldCursor())
    while let field = try? wanted.next(in: own) {
      var other = try? present.next(in: others)
      while let before = other, before.number < field.number { other = try? present.next(in: others) }
      guard let other, other.number == field.number, other.value.count == field.value.count,
        zip(field.value, other.value).dropFirst().allSatisfy({ own.byte(at: $0) == others.byte(at: $1) })
      else { return false }
    }
    return true
  }

  /// Sets the attributes of `changes`. An attribute with an empty value in `changes` becomes empty and is not removed.
  package mutating func merge(_ changes: Attributes) {
    change { record in for code in changes.codes { record[code] = changes.fields[code].map { Array($0) } } }
  }

  /// Changes the record in place if its bytes are not shared.
  private mutating func change(_ body: (inout Record) -> Void) {
    var record = record
    fields = RecordView()
    body(&record)
    self.record = record
  }
}
