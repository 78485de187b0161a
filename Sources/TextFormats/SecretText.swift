package import SecretMemory

/// Text that is put together in secret memory, and grows as needed.
package final class SecretText: TextOutput {
  private var bytes: SecretBytes
  package private(set) var byteCount = 0

  /// - Parameter capacity: How many bytes are expected.
  package init(capacity: Int = 4096) { bytes = SecretBytes(zeroes: max(capacity, 64)) }

  package func write(bytes new: [UInt8]) { unsafe append(new.span.bytes) }

  package func writeSecret(
    _ secret: RawSpan, through encode: (RawSpan, inout OutputRawSpan) -> Void, group: Int
  ) {
    for offset in stride(from: 0, to: secret.byteCount, by: group) {
      let part = secret.extracting(offset..<min(offset + group, secret.byteCount))
      SecretBytes(capacity: 6 * group) { encode(part, &$0) }.expose { append($0) }
    }
  }

  /// Appends a copy.
  package func append(_ new: RawSpan) {
    if byteCount + new.byteCount > bytes.byteCount {
      bytes = bytes.enlarged(to: max(2 * bytes.byteCount, byteCount + new.byteCount))
    }
    let start = byteCount
    unsafe bytes.modify { target in
      unsafe new.withUnsafeBytes {
        unsafe UnsafeMutableRawBufferPointer(rebasing: target[start...]).copyMemory(from: $0)
      }
    }
    byteCount += new.byteCount
  }

  /// Lends what was written until now.
  package func expose<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    let count = byteCount
    return try bytes.expose { span throws(E) in try body(span.extracting(0..<count)) }
  }

  /// A copy of what was written until now.
  package func copy() -> SecretBytes { expose { SecretBytes(copying: $0) } }
}

extension SecretBytes {
  /// A copy with zeros at its end.
  package func enlarged(to count: Int) -> SecretBytes {
    var larger = SecretBytes(zeroes: count)
    unsafe larger.modify { target in
      expose { unsafe $0.withUnsafeBytes { unsafe target.copyMemory(from: $0) } }
    }
    return larger
  }
}
