import Glibc
package import SecretMemory

/// Reads secrets from descriptors and files straight into secret memory, never past a limit.
package enum SecretReading {
  /// The most bytes of an item's secret.
  package static let longestSecret = 1 << 20

  /// A ``TypedSecret``: to the end, one final newline dropped.
  package static func phrase(from descriptor: Int32, named name: String) throws(CommandError) -> SecretBytes {
    let bytes = try all(of: descriptor, limit: TypedSecret.longest + 1, named: name)
    return try checkPhrase(droppingNewline(bytes), named: name)
  }

  package static func checkPhrase(_ bytes: consuming SecretBytes, named name: String) throws(CommandError)
    -> SecretBytes
  {
    switch bytes.typingFault {
    case nil: return bytes
    case .empty: throw .malformed("the \(name) is empty")
    case .tooLong: throw tooLong(name, limit: TypedSecret.longest)
    case .containsNUL: throw .malformed("the \(name) has a NUL byte")
    }
  }

  /// Everything up to the end, byte for byte.
  ///
  /// - Throws: exit 12 beyond `limit` bytes, 13 when reading fails.
  package static func all(of descriptor: Int32, limit: Int, named name: String) throws(CommandError)
    -> SecretBytes
  {
    var bytes = SecretBytes(capacity: 0) { _ in }
    var capacity = min(limit + 1, 4096)
    while true {
      var isAtEnd = false
      let larger = try SecretBytes(capacity: capacity) { output throws(CommandError) in
        bytes.expose { output.append(copying: $0) }
        while !isAtEnd, output.freeCapacity > 0 {
          isAtEnd = try !appendSome(of: descriptor, to: &output, named: name)
        }
      }
      bytes = larger
      if isAtEnd { break }
      guard capacity <= limit else { throw tooLong(name, limit: limit) }
      capacity = min(limit + 1, capacity * 8)
    }
    guard bytes.byteCount <= limit else { throw tooLong(name, limit: limit) }
    return bytes
  }

  /// Without one newline at the end, if there is one.
  package static func droppingNewline(_ bytes: consuming SecretBytes) -> SecretBytes {
    let count = bytes.byteCount
    let endsInNewline = bytes.expose { span in
      unsafe count > 0 && span.unsafeLoad(fromByteOffset: count - 1, as: UInt8.self) == UInt8(ascii: "\n")
    }
    guard endsInNewline else { return bytes }
    return bytes.expose { SecretBytes(copying: $0.extracting(0..<count - 1)) }
  }

  package static func tooLong(_ name: String, limit: Int) -> CommandError {
    let size =
      limit >= 1 << 20
      ? "\(limit >> 20) MiB" : limit == TypedSecret.longest + 1 ? "1024 bytes" : "\(limit) bytes"
    return .malformed("the \(name) is too long, at most \(size) are allowed")
  }

  /// False at the end.
  private static func appendSome(
    of descriptor: Int32, to output: inout OutputRawSpan, named name: String
  ) throws(CommandError) -> Bool {
    while true {
      var got = 0
      unsafe output.withUnsafeMutableBytes { bytes, count in
        got = unsafe read(descriptor, bytes.baseAddress! + count, bytes.count - count)
        count += max(got, 0)
      }
      if got >= 0 { return got > 0 }
      if errno == EAGAIN {
        var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&wait, 1, -1)
      } else if errno == EBADF {
        throw .usage(
          "descriptor \(descriptor) is not open for reading",
          hint: "open it in the shell, like \(descriptor)<FILE")
      } else if errno != EINTR {
        throw .io("reading the \(name)", errno: errno)
      }
    }
  }
}
