/// Writes JSON on one line. Integers are exact; text is escaped so that it stays on its line.
package struct JSONWriter {
  let output: OutputStream

  package init(output: OutputStream) { self.output = output }

  package func write(_ value: JSON) throws(CommandError) {
    switch value {
    case .string(let text): try write(text)
    case .integer(let number): try output.write(String(number))
    case .unsigned(let number): try output.write(String(number))
    case .boolean(let flag): try output.write(flag ? "true" : "false")
    case .array(let values): try write(values.count) { values[$0] }
    case .list(let count, let value): try write(count, value)
    case .object(let fields): try write(fields)
    case .secretBase64(let box):
      try output.write("\"")
      try box.expose { bytes throws(CommandError) in
        try output.writeSecret(bytes, through: Base64.encode, group: Base64.groupByteCount)
      }
      try output.write("\"")
    case .secretText(let box):
      try output.write("\"")
      try box.expose { bytes throws(CommandError) in
        try output.writeSecret(bytes, through: JSONText.escape, group: JSONText.groupByteCount)
      }
      try output.write("\"")
    }
  }

  private func write(_ count: Int, _ value: (Int) -> JSON) throws(CommandError) {
    try output.write("[")
    for index in 0..<count {
      if index > 0 { try output.write(",") }
      try write(value(index))
    }
    try output.write("]")
  }

  private func write(_ fields: [(String, JSON)]) throws(CommandError) {
    try output.write("{")
    for (index, field) in fields.enumerated() {
      if index > 0 { try output.write(",") }
      try write(field.0)
      try output.write(":")
      try write(field.1)
    }
    try output.write("}")
  }

  private func write(_ text: String) throws(CommandError) {
    var escaped: [UInt8] = [UInt8(ascii: "\"")]
    for byte in text.utf8 { JSONText.escape(byte) { escaped.append($0) } }
    escaped.append(UInt8(ascii: "\""))
    try output.write(bytes: escaped)
  }
}

/// The escapes of RFC 8259 §7 over UTF-8 bytes; DEL is escaped too.
enum JSONText {
  /// How many bytes of input one call of ``escape(_:into:)`` is given at most.
  static let groupByteCount = 512

  /// Appends at most six bytes for each byte.
  static func escape(_ bytes: RawSpan, into output: inout OutputRawSpan) {
    for offset in 0..<bytes.byteCount {
      let byte = unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
      escape(byte) { output.append(byte: $0) }
    }
  }

  static func escape(_ byte: UInt8, _ put: (UInt8) -> Void) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"):
      put(UInt8(ascii: "\\"))
      put(byte)
    case 0x0A: put(UInt8(ascii: "\\")); put(UInt8(ascii: "n"))
    case 0x0D: put(UInt8(ascii: "\\")); put(UInt8(ascii: "r"))
    case 0x09: put(UInt8(ascii: "\\")); put(UInt8(ascii: "t"))
    case 0x00...0x1F, 0x7F:
      for character in [UInt8(ascii: "\\"), UInt8(ascii: "u"), 0x30, 0x30, hex(byte >> 4), hex(byte & 15)] {
        put(character)
      }
    default: put(byte)
    }
  }

  private static func hex(_ digit: UInt8) -> UInt8 { digit < 10 ? 0x30 + digit : 0x57 + digit }
}
