import AuthenticatorKit
import Glibc
import SecretMemory
import TextFormats

/// A request as one line of JSON, in secret memory.
final class RequestText {
  private let text = SecretText()

  var byteCount: Int { text.byteCount }

  init(_ request: TransportRequest) {
    let head: [(String, JSON)] = [
      ("version", .unsigned(1)), ("id", .string(request.id)),
      ("operation", .string(request.operation.rawValue)),
    ]
    JSON.object(head + Self.members(of: request.fields)).write(to: text)
    text.write("\n")
  }

  /// Writes from `offset` on what the descriptor has room for. It does not wait.
  ///
  /// - Returns: How many bytes were written.
  func write(from offset: Int, to descriptor: Int32) -> Int {
    let written = text.expose { all in
      unsafe all.extracting(offset..<all.byteCount).withUnsafeBytes {
        unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
      }
    }
    return max(written, 0)
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
