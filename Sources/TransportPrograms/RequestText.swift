import AuthenticatorKit
import SecretMemory
import TextFormats

/// A request as one line of JSON, in secret memory.
enum RequestText {
  static func line(of request: TransportRequest) -> SharedSecret {
    let text = SecretText()
    let head: [(String, JSON)] = [
      ("version", .unsigned(1)), ("id", .string(request.id)),
      ("operation", .string(request.operation.rawValue)),
    ]
    JSON.object(head + members(of: request.fields)).write(to: text)
    text.write("\n")
    return SharedSecret(text.copy())
  }

  private static func members(of fields: TransportFields) -> [(String, JSON)] {
    fields.all.compactMap { name, value in
      json(value).map { (name, $0) }
    }
  }

  /// - Returns: `nil` for what only an answer has.
  private static func json(_ value: TransportValue) -> JSON? {
    switch value {
    case .text(let text): .string(text)
    case .number(let number): .unsigned(number)
    case .flag(let flag): .boolean(flag)
    case .secret(let secret): .secretBase64(secret.box)
    case .texts(let texts): .array(texts.map { .string($0) })
    case .fields(let fields): .object(members(of: fields))
    case .other: nil
    }
  }
}
