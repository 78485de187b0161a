import SecretMemory
import TestSupport
import Testing
import VaultCrypto

@Suite("Published vectors of AES-256-GCM", .bounded, .requirement("R6"))
struct AESGCMVectorTests {
  struct File: Decodable {
    struct Case: Decodable {
      var op: String
      var ivBits: Int
      var tagBits: Int
      var key: Hex
      var iv: Hex
      var aad: Hex
      var pt: Hex?
      var ct: Hex
      var tag: Hex
      var valid: Bool
    }
    var tests: [Case]
  }

  @Test("sealing and opening give what NIST's test suite gives, for every case with our IV and tag length")
  func nist() throws {
    let cases = try VectorFiles.read("nist", prefix: "aes256_gcm", as: File.self).flatMap(\.tests)
    let ours = cases.filter { $0.ivBits == 96 && $0.tagBits == 128 }
    for test in ours {
      let cipher = try AESGCM(key: SecretBytes(test.key.bytes))
      let opened = cipher.opened(test.ct.bytes + test.tag.bytes, iv: test.iv.bytes, aad: test.aad.bytes)
      if test.valid {
        let plaintext = try #require(test.pt?.bytes)
        expect(opened, equals: .success(plaintext))
        expect(
          cipher.sealed(plaintext, iv: test.iv.bytes, aad: test.aad.bytes),
          equals: .success(test.ct.bytes + test.tag.bytes))
      } else {
        expect(opened, equals: .failure(.tagMismatch))
      }
    }
    #expect(ours.contains { !$0.valid })
    VectorFiles.report("AES-256-GCM (NIST)", applied: ours.count, of: cases.count)
  }
}

extension AESGCM {
  /// Ciphertext and tag, with an IV that only a vector may choose.
  func sealed(_ plaintext: [UInt8], iv: [UInt8], aad: [UInt8]) -> Result<[UInt8], CryptoError> {
    Result { () throws(CryptoError) in
      unsafe try [UInt8](unsafeUninitializedCapacity: plaintext.count + 16) {
        (buffer, count) throws(CryptoError) in
        count = plaintext.count + 16
        let output = unsafe UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: count)
        unsafe try pointers(plaintext, iv, aad) { (plaintext, iv, aad) throws(CryptoError) in
          unsafe try seal(plaintext, iv: iv, aad: aad, into: output)
        }
      }
    }
  }

  /// The plaintext of ciphertext and tag.
  func opened(_ sealed: [UInt8], iv: [UInt8], aad: [UInt8]) -> Result<[UInt8], CryptoError> {
    Result { () throws(CryptoError) in
      unsafe try [UInt8](unsafeUninitializedCapacity: sealed.count - 16) {
        (buffer, count) throws(CryptoError) in
        count = sealed.count - 16
        let output = unsafe UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: count)
        unsafe try pointers(sealed, iv, aad) { (sealed, iv, aad) throws(CryptoError) in
          unsafe try open(sealed, iv: iv, aad: aad, into: output)
        }
      }
    }
  }

  private func pointers(
    _ bytes: [UInt8], _ iv: [UInt8], _ aad: [UInt8],
    _ body: (UnsafeRawBufferPointer, UnsafeRawPointer, UnsafeRawBufferPointer) throws(CryptoError) -> Void
  ) throws(CryptoError) {
    unsafe try bytes.span.bytes.withUnsafeBytes { (bytes) throws(CryptoError) in
      unsafe try iv.span.bytes.withUnsafeBytes { (iv) throws(CryptoError) in
        unsafe try aad.span.bytes.withUnsafeBytes { (aad) throws(CryptoError) in
          unsafe try body(bytes, iv.baseAddress!, aad)
        }
      }
    }
  }
}
