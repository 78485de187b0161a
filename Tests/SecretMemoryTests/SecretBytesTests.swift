import SecretMemory
import Testing

@Suite("Secret bytes")
struct SecretBytesTests {
  @Test(
    "a secret holds what was appended, and nothing more",
    arguments: [0, 1, 31, 32, 64, 65, 4096, 65_536, 65_537])
  func roundTrip(count: Int) {
    let secret = SecretBytes(capacity: count + 3) { output in
      for index in 0..<count { output.append(UInt8(truncatingIfNeeded: index &* 7)) }
    }
    #expect(secret.byteCount == count)
    secret.expose { bytes in
      #expect(bytes.byteCount == count)
      let wrong = (0..<count).contains { bytes[$0] != UInt8(truncatingIfNeeded: $0 &* 7) }
      #expect(!wrong)
    }
  }
}

extension RawSpan {
  subscript(offset: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
}
