package import SecretMemory

/// The fields of a message, by their tags. A message that is built and one that came are the same value.
package struct AgentFields<Tag>: Sendable
where Tag: RawRepresentable<UInt8>, Tag: Hashable, Tag: Sendable {
  private var values: [(tag: Tag, bytes: SharedSecret)] = []

  package init() {}

  /// The fields of a message that came.
  ///
  /// - Throws: What ``AgentMessageError`` has for fields.
  package init(_ bytes: RawSpan) throws(AgentMessageError) {
    var offset = 0
    while offset < bytes.byteCount {
      let number = unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
      offset += 1
      let value = bytes.extracting(try bytes.takeCounted(at: &offset))
      guard let tag = Tag(rawValue: number) else { throw .unknownField(number) }
      guard !has(tag) else { throw .repeatedField(number) }
      values.append((tag, SharedSecret(SecretBytes(copying: value))))
    }
  }

  /// The fields as they are sent.
  package var bytes: SecretBytes {
    SecretBytes(capacity: byteCount) { append(to: &$0) }
  }

  var byteCount: Int { values.reduce(0) { $0 + 5 + $1.bytes.byteCount } }

  func append(to output: inout OutputRawSpan) {
    for (tag, bytes) in values {
      unsafe output.append(tag.rawValue, as: UInt8.self)
      output.append(count: bytes.byteCount)
      bytes.expose { output.append(copying: $0) }
    }
  }

  package func has(_ tag: Tag) -> Bool { values.contains { $0.tag == tag } }
}

// MARK: Building

extension AgentFields {
  /// - Precondition: The field is not set.
  package mutating func set(_ tag: Tag, _ secret: SharedSecret) {
    precondition(!has(tag), "AgentFields.set: a field is set twice")
    values.append((tag, secret))
  }

  /// Sets nothing for nil.
  package mutating func set(_ tag: Tag, _ text: String?) {
    guard let text else { return }
    set(tag, SharedSecret(SecretBytes(copying: Array(text.utf8))))
  }

  /// Sets nothing for nil.
  package mutating func set(_ tag: Tag, _ number: Int64?) {
    guard let number else { return }
    let bytes = (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
    set(tag, SharedSecret(SecretBytes(copying: bytes)))
  }

  /// A flag is a field without bytes, which is there or not.
  package mutating func set(_ tag: Tag, _ flag: Bool) {
    if flag { set(tag, SharedSecret(SecretBytes(zeroes: 0))) }
  }

  package mutating func set(_ tag: Tag, _ list: [String]) {
    let count = list.reduce(0) { $0 + 4 + $1.utf8.count }
    let bytes = SecretBytes(capacity: count) { output in
      for text in list {
        output.append(count: text.utf8.count)
        for byte in text.utf8 { unsafe output.append(byte, as: UInt8.self) }
      }
    }
    set(tag, SharedSecret(bytes))
  }

  /// Sets nothing for nil.
  package mutating func set<Inner>(_ tag: Tag, _ fields: AgentFields<Inner>?) {
    guard let fields else { return }
    set(tag, SharedSecret(fields.bytes))
  }
}

// MARK: Reading

extension AgentFields {
  /// The bytes of a field.
  ///
  /// - Throws: ``AgentMessageError/missingField(_:)``.
  package func secret(_ tag: Tag) throws(AgentMessageError) -> SharedSecret {
    guard let value = values.first(where: { $0.tag == tag }) else { throw .missingField(tag.rawValue) }
    return value.bytes
  }

  package func text(_ tag: Tag) throws(AgentMessageError) -> String {
    try secret(tag).expose { (bytes) throws(AgentMessageError) in try Self.text(bytes, of: tag) }
  }

  package func number(_ tag: Tag) throws(AgentMessageError) -> Int64 {
    try secret(tag).expose { (bytes) throws(AgentMessageError) in
      guard bytes.byteCount == 8 else { throw .wrongValue(tag.rawValue) }
      return unsafe Int64(bigEndian: bytes.unsafeLoadUnaligned(as: Int64.self))
    }
  }

  package func flag(_ tag: Tag) throws(AgentMessageError) -> Bool {
    guard has(tag) else { return false }
    guard try secret(tag).byteCount == 0 else { throw .wrongValue(tag.rawValue) }
    return true
  }

  package func list(_ tag: Tag) throws(AgentMessageError) -> [String] {
    try secret(tag).expose { (bytes) throws(AgentMessageError) in
      var (list, offset): ([String], Int) = ([], 0)
      while offset < bytes.byteCount {
        list.append(try Self.text(bytes.extracting(bytes.takeCounted(at: &offset)), of: tag))
      }
      return list
    }
  }

  package func fields<Inner>(
    _ tag: Tag, as inner: Inner.Type = Inner.self
  ) throws(AgentMessageError) -> AgentFields<Inner> {
    try secret(tag).expose { (bytes) throws(AgentMessageError) in try AgentFields<Inner>(bytes) }
  }

  /// The field where it is there, read by `read`.
  package func ifAny<Value>(
    _ tag: Tag, _ read: (Tag) throws(AgentMessageError) -> Value
  ) throws(AgentMessageError) -> Value? {
    has(tag) ? try read(tag) : nil
  }

  /// A number that means a case.
  package func value<Value: RawRepresentable<UInt8>>(_ tag: Tag) throws(AgentMessageError) -> Value {
    guard let raw = UInt8(exactly: try number(tag)), let value = Value(rawValue: raw) else {
      throw .wrongValue(tag.rawValue)
    }
    return value
  }

  private static func text(_ bytes: RawSpan, of tag: Tag) throws(AgentMessageError) -> String {
    let copy = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
    guard let text = String(validating: copy, as: UTF8.self) else { throw .notText(tag.rawValue) }
    return text
  }
}

extension RawSpan {
  /// The range of so many bytes as a byte count says, which moves `offset` behind them.
  fileprivate func takeCounted(at offset: inout Int) throws(AgentMessageError) -> Range<Int> {
    guard byteCount - offset >= 4 else { throw .wrongLength }
    let count = Int(
      unsafe UInt32(bigEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self)))
    offset += 4
    guard count <= byteCount - offset else { throw .wrongLength }
    defer { offset += count }
    return offset..<offset + count
  }
}

extension OutputRawSpan {
  fileprivate mutating func append(count: Int) {
    let number = UInt32(count)
    for shift in [24, 16, 8, 0] as [UInt32] {
      unsafe append(UInt8(truncatingIfNeeded: number >> shift), as: UInt8.self)
    }
  }
}
