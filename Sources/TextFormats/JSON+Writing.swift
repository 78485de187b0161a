import SecretMemory

extension JSON {
  /// Writes the value on one line. Integers are exact, and text is escaped so that it stays on its line.
  /// A value without a secret and without a list that is made on the way is one write.
  package func write<Output: TextOutput>(to output: Output) throws(Output.Failure) {
    switch self {
    case _ where isPlain: try output.write(bytes: plainBytes)
    case .string, .integer, .unsigned, .boolean: break
    case .array(let values): try Self.write(count: values.count, to: output) { values[$0] }
    case .list(let count, let value): try Self.write(count: count, to: output, value)
    case .object(let fields): try Self.write(fields, to: output)
    case .secretBase64(let box):
      try output.write("\"")
      try box.expose { bytes throws(Output.Failure) in
        try output.writeSecret(bytes, through: Base64.encode, group: Base64.groupByteCount)
      }
      try output.write("\"")
    case .secretText(let box):
      try output.write("\"")
      try Self.write(box, to: output, through: JSONText.escape)
      try output.write("\"")
    case .secretJSON(let box): try Self.write(box, to: output, through: JSONText.escapeHidden)
    }
  }

  /// Whether it holds no secret and no list that is made on the way.
  private var isPlain: Bool {
    switch self {
    case .string, .integer, .unsigned, .boolean: true
    case .array(let values): values.allSatisfy(\.isPlain)
    case .object(let fields): fields.allSatisfy(\.value.isPlain)
    case .list, .secretBase64, .secretText, .secretJSON: false
    }
  }

  private var plainBytes: [UInt8] {
    var bytes: [UInt8] = []
    appendPlain(to: &bytes)
    return bytes
  }

  private func appendPlain(to bytes: inout [UInt8]) {
    switch self {
    case .string(let text): Self.append(text, to: &bytes)
    case .integer(let number): bytes.append(contentsOf: String(number).utf8)
    case .unsigned(let number): bytes.append(contentsOf: String(number).utf8)
    case .boolean(let flag): bytes.append(contentsOf: (flag ? "true" : "false").utf8)
    case .array(let values):
      bytes.append(UInt8(ascii: "["))
      for (index, value) in values.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        value.appendPlain(to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let fields):
      bytes.append(UInt8(ascii: "{"))
      for (index, field) in fields.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        Self.append(field.name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        field.value.appendPlain(to: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    case .list, .secretBase64, .secretText, .secretJSON: preconditionFailure("JSON.appendPlain: not plain")
    }
  }

  private static func append(_ text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    unsafe JSONText.escape(text.utf8Span.span.bytes, quoting: true) { bytes.append($0) }
    bytes.append(UInt8(ascii: "\""))
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
      var name: [UInt8] = []
      append(field.name, to: &name)
      try output.write(bytes: name)
      try output.write(":")
      try field.value.write(to: output)
    }
    try output.write("}")
  }

  private static func write<Output: TextOutput>(
    _ secret: SharedSecret, to output: Output, through encode: (RawSpan, inout OutputRawSpan) -> Void
  ) throws(Output.Failure) {
    try secret.expose { bytes throws(Output.Failure) in
      var start = 0
      while start < bytes.byteCount {
        let end = JSONText.end(ofGroupIn: bytes, from: start)
        try output.writeSecret(
          bytes.extracting(start..<end), through: encode, group: JSONText.groupByteCount)
        start = end
      }
    }
  }
}
