package import SecretMemory

/// A secret on its way to standard output, held once however often the result names it.
package final class SecretBox: Sendable {
  private let bytes: SecretBytes

  package init(_ bytes: consuming SecretBytes) { self.bytes = bytes }

  package var byteCount: Int { bytes.byteCount }

  package func expose<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try bytes.expose(body)
  }
}

/// A JSON value. Secrets stay in their boxes until they are written.
package enum JSON: Sendable {
  case string(String)
  case integer(Int64)
  case unsigned(UInt64)
  case boolean(Bool)
  case array([JSON])
  /// An array of so many values, each made when it is written.
  case list(count: Int, _ value: @Sendable (Int) -> JSON)
  case object([(String, JSON)])
  /// Bytes as base64 text, with padding.
  case secretBase64(SecretBox)
  /// Bytes that are UTF-8, as JSON text.
  case secretText(SecretBox)
}

extension JSON {
  /// The same object with one more field.
  package func adding(_ name: String, _ value: JSON) -> JSON {
    guard case .object(let fields) = self else { return self }
    return .object(fields + [(name, value)])
  }

  static func instant(seconds: Int64) -> JSON { .string(Instants.text(seconds: seconds)) }

  static func optional(_ name: String, _ value: JSON?) -> [(String, JSON)] {
    value.map { [(name, $0)] } ?? []
  }
}
