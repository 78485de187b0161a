import SecretMemory
import TestSupport
import Testing

@Suite("Secret bytes", .bounded)
struct SecretBytesTests {
  @Test(
    "a secret holds what was appended, and nothing more",
    arguments: [0, 1, 31, 32, 64, 65, 4096, 65_536, 65_537, SecretBytes.maximumByteCount])
  func roundTrip(count: Int) {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 1) }
    let capacity = min(count + 3, SecretBytes.maximumByteCount)
    let secret = SecretBytes(capacity: capacity) { output in
      output.append(copying: unsafe bytes.span.bytes)
    }
    expect(secret.byteCount, equals: count)
    let isSame = secret.revealed == bytes  // not inside #expect, which would print 16 MiB
    #expect(isSame)
  }

  @Test("a secret can be filled byte by byte and in part")
  func partlyFilled() {
    let secret = SecretBytes(capacity: 100) { output in
      for byte in 1...5 { output.append(UInt8(byte)) }
      output.removeLast(2)
    }
    expect(secret.revealed, equals: [1, 2, 3])
  }

  @Test("elements are copied into a secret and lent without unsafe code", arguments: [0, 1, 65_537])
  func elements(count: Int) {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 1) }
    let secret = SecretBytes(copying: bytes.span)
    let lent = secret.exposeElements { elements in elements.indices.map { elements[$0] } }
    expect(lent, equals: bytes)
  }

  @Test("a new secret of zeros is all zero, also in memory used before", arguments: [1, 64, 1000, 65_536])
  func freshMemoryIsZero(count: Int) {
    for _ in 0..<8 { _ = SecretBytes(copying: [UInt8](repeating: 0xff, count: count)) }
    let isZero = SecretBytes(zeroes: count).revealed == [UInt8](repeating: 0, count: count)
    #expect(isZero)
  }

  @Test("a copy has the same bytes and outlives the original")
  func copies() {
    let copy: SecretBytes
    do {
      let original = SecretBytes(copying: [1, 2, 3])
      copy = original.copy()
    }
    expect(copy.revealed, equals: [1, 2, 3])
  }

  @Test("two secrets are joined in order")
  func joining() {
    let joined = SecretBytes.joining(SecretBytes(copying: [1, 2]), SecretBytes(copying: [3]))
    expect(joined.revealed, equals: [1, 2, 3])
  }

  @Test("what the filling closure throws comes out, and the memory is given back")
  func throwingFill() {
    struct Refused: Error {}
    let before = SecretArena.status.bytesInUse
    for _ in 0..<1000 {
      #expect(throws: Refused.self) {
        _ = try SecretBytes(capacity: 65_536) { (output) throws(Refused) in
          output.append(1)
          throw Refused()
        }
      }
    }
    // Other tests run beside this one; 1,000 slots of 64 KiB would show.
    #expect(SecretArena.status.bytesInUse < before + 500 * 65_536)
  }

  @Test(
    "equal bytes are equal, and one different bit anywhere is found", arguments: [0, 1, 7, 8, 9, 32, 33, 64])
  func comparison(count: Int) {
    let bytes = (0..<count).map { UInt8($0) }
    let secret = SecretBytes(copying: bytes)
    let same = secret.isEqualInConstantTime(to: SecretBytes(copying: bytes))
    #expect(same)
    for bit in 0..<count * 8 {
      var changed = bytes
      changed[bit / 8] ^= 1 << (bit % 8)
      let differs = !secret.isEqualInConstantTime(to: SecretBytes(copying: changed))
      #expect(differs)
    }
    let longer = !secret.isEqualInConstantTime(to: SecretBytes(copying: bytes + [0]))
    #expect(longer)
  }
}

extension SecretBytes {
  var revealed: [UInt8] {
    expose { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0) } }
  }

  /// Where the bytes lie: what a test needs to look behind the curtain.
  var address: UnsafeMutableRawPointer {
    unsafe expose { bytes in
      unsafe bytes.withUnsafeBytes { unsafe UnsafeMutableRawPointer(mutating: $0.baseAddress!) }
    }
  }
}
