import SecretMemory

extension JSON {
  /// Writes the value on one line. Integers are exact, and text is escaped so that it stays on its line.
  package func write<Output: TextOutput>(to output: Output) throws(Output.Failure) {
    switch self {
    case .string(let text): try Self.write(text, to: output)
    case .integer(let number): try output.write(String(number))
    case .unsigned(let number): try output.write(String(number))
    case .boolean(let flag): try output.write(flag ? "true" : "false")
    case .array(let values): try Self.write(count: values.count, to: output) { values[$0] }
    case .list(let count, let value): try Self.write(count: count, to: output, value)
    case .object(let fields): try Self.write(fields, to: output)
    case .secretBase64(let box):
      try Self.write(box, to: output, through: Base64.encode, group: Base64.groupByteCount)
    case .secretText(let box):
      try Self.write(box, to: output, through: JSONText.escape, group: JSONText.groupByteCount)
    }
  }

  private static func write<Output: TextOutput>(
    count: Int, to output: Output, _ value: (Int) -> JSON
  ) throws(Output.Failure) {
    try output.write("[")
    for index in 0..<count {
      if index > 0 { try output.write(",") }
      try value(index).write(to: output)
    }
    try output.write("]")
  }

  private static func write<Output: TextOutput>(
    _ fields: [Field], to output: Output
  ) throws(Output.Failure) {
    try output.write("{")
    for (index, field) in fields.enumerated() {
      if index > 0 { try output.write(",") }
      try write(field.name, to: output)
      try output.write(":")
      try field.value.write(to: output)
    }
    try output.write("}")
  }

  private static func write<Output: TextOutput>(_ text: String, to output: Output) throws(Output.Failure) {
    var escaped: [UInt8] = [UInt8(ascii: "\"")]
    for byte in text.utf8 { JSONText.escape(byte) { escaped.append($0) } }
    escaped.append(UInt8(ascii: "\""))
    try output.write(bytes: escaped)
  }

  private static func write<Output: TextOutput>(
    _ secret: SharedSecret, to output: Output, through encode: (RawSpan, inout OutputRawSpan) -> Void,
    group: Int
  ) throws(Output.Failure) {
    try output.write("\"")
    try secret.expose { bytes throws(Output.Failure) in
      try output.writeSecret(bytes, through: encode, group: group)
    }
    try output.write("\"")
  }
}
