import AuthenticatorKit
import Glibc
import SecretMemory
import TextFormats

/// A request as one line of JSON, in secret memory.
final class RequestText {
  private var bytes = SecretBytes(zeroes: 4096)
  private(set) var byteCount = 0

  init(_ request: TransportRequest) {
    let head: [(String, JSON)] = [
      ("version", .unsigned(1)), ("id", .string(request.id)),
      ("operation", .string(request.operation.rawValue)),
    ]
    JSON.object(head + Self.members(of: request.fields)).write(to: self)
    write("\n")
  }

  /// Writes from `offset` on what the descriptor has room for. It does not wait.
  ///
  /// - Returns: How many bytes were written.
  func write(from offset: Int, to descriptor: Int32) -> Int {
    let written = bytes.expose { all in
      unsafe all.extracting(offset..<byteCount).withUnsafeBytes {
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

extension RequestText: TextOutput {
  func write(bytes new: [UInt8]) { unsafe append(new.span.bytes) }

  func writeSecret(_ secret: RawSpan, through encode: (RawSpan, inout OutputRawSpan) -> Void, group: Int) {
    for offset in stride(from: 0, to: secret.byteCount, by: group) {
      let part = secret.extracting(offset..<min(offset + group, secret.byteCount))
      SecretBytes(capacity: 6 * group) { encode(part, &$0) }.expose { append($0) }
    }
  }

  private func append(_ new: RawSpan) {
    if byteCount + new.byteCount > bytes.byteCount {
      bytes = bytes.grown(to: max(2 * bytes.byteCount, byteCount + new.byteCount))
    }
    let start = byteCount
    unsafe bytes.modify { target in
      unsafe new.withUnsafeBytes {
        unsafe UnsafeMutableRawBufferPointer(rebasing: target[start...]).copyMemory(from: $0)
      }
    }
    byteCount += new.byteCount
  }
}

extension SecretBytes {
  /// A copy with zeros at its end.
  func grown(to count: Int) -> SecretBytes {
    var larger = SecretBytes(zeroes: count)
    unsafe larger.modify { target in
      expose { unsafe $0.withUnsafeBytes { unsafe target.copyMemory(from: $0) } }
    }
    return larger
  }
}
