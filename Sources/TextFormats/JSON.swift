package import SecretMemory

/// Texts that programs exchange: JSON (RFC 8259), base64 (RFC 4648) and UTF-8 (RFC 3629), written and read so that a secret in
/// them never leaves secret memory.
///
/// Writing: a ``JSON`` value is built with ``JSON/object(_:)`` and ``Field``, and ``JSON/write(to:)`` writes it on one line. A
/// secret is a ``SharedSecret`` in the value. Its bytes are encoded in secret memory, a group at a time, when they are written.
///
/// Reading: a ``JSONReader`` takes its bytes from a ``ByteReader``, which reads a descriptor through secret memory. The caller
/// asks for what it expects, member by member, with a limit for each text, so that no tree is built and no input exhausts the
/// memory. ``JSONTextDecoder`` resolves the escapes of a text, and ``Base64Decoder`` reads base64 from it.
///
/// The module knows no vault and no command line. Its errors are ``TextError`` values, which its callers put into words.
///
/// Read this file first, then `JSON+Writing.swift` and `JSONReader.swift`; the other files are their parts.
package indirect enum JSON: Sendable {
  case string(String)
  case integer(Int64)
  case unsigned(UInt64)
  case boolean(Bool)
  case array([JSON])
  /// An array of `count` values. Each value is made when it is written.
  case list(count: Int, _ value: @Sendable (Int) -> JSON)
  case object([Field])
  /// The bytes of a secret as base64 text, with padding.
  case secretBase64(SharedSecret)
  /// The bytes of a secret that is UTF-8, as JSON text.
  case secretText(SharedSecret)
  /// The bytes of a secret that is JSON already.
  case secretJSON(SharedSecret)

  /// One member of an object.
  package struct Field: Sendable {
    package let name: String
    package let value: JSON

    package init(_ name: String, _ value: JSON) {
      self.name = name
      self.value = value
    }
  }
}

extension JSON {
  /// The same object with more members.
  package func adding(@FieldBuilder _ fields: () -> [Field]) -> JSON {
    guard case .object(let old) = self else { return self }
    return .object(old + fields())
  }

  /// An object whose members are written one below the other. A member without a value is left out.
  package static func object(@FieldBuilder _ fields: () -> [Field]) -> JSON { .object(fields()) }

  /// Collects the members of an object.
  @resultBuilder
  package enum FieldBuilder {
    package static func buildExpression(_ field: Field) -> [Field] { [field] }
    package static func buildExpression(_ field: Field?) -> [Field] { field.map { [$0] } ?? [] }
    package static func buildExpression(_ fields: [Field]) -> [Field] { fields }
    package static func buildBlock(_ fields: [Field]...) -> [Field] { fields.flatMap(\.self) }
    package static func buildOptional(_ fields: [Field]?) -> [Field] { fields ?? [] }
    package static func buildEither(first fields: [Field]) -> [Field] { fields }
    package static func buildEither(second fields: [Field]) -> [Field] { fields }
  }
}

extension JSON.Field {
  package init(_ name: String, _ value: some JSONConvertible) { self.init(name, value.json) }

  /// A member that an object has only where there is a value.
  package init?(_ name: String, _ value: (some JSONConvertible)?) {
    guard let value else { return nil }
    self.init(name, value.json)
  }
}

/// The name of a member in `JSON.object { … }`.
package typealias Field = JSON.Field
