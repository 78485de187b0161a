import COpenSSL
package import SecretMemory

/// HMAC under one key (RFC 2104), whose key blocks are hashed once and kept as midstates in secret memory.
package struct KeyedHMAC: ~Copyable, Sendable {
  package let algorithm: HashAlgorithm
  private let midstates: SecretBytes

  /// - Parameter key: Of any length, also empty.
  package init(key: borrowing SecretBytes, algorithm: HashAlgorithm = .sha256) {
    self.algorithm = algorithm
    self.midstates = key.expose { KeyedHMAC.midstates(of: $0, algorithm) }
  }

  /// For a key that lies outside of secret memory: a salt, or a test vector.
  package init(key: RawSpan, algorithm: HashAlgorithm = .sha256) {
    self.algorithm = algorithm
    self.midstates = KeyedHMAC.midstates(of: key, algorithm)
  }

  /// The code of `message`: 20, 32 or 64 bytes.
  package func code(for message: RawSpan) -> [UInt8] {
    code { $0.append(message) }
  }

  /// The code of `message`: 20, 32 or 64 bytes.
  package func code(for message: [UInt8]) -> [UInt8] {
    unsafe code(for: message.span.bytes)
  }

  /// The code of a message in several parts, in the order in which `message` appends them.
  package func code(of message: (inout HMACMessage) -> Void) -> [UInt8] {
    var code = [UInt8](repeating: 0, count: algorithm.digestByteCount)
    unsafe code.withUnsafeMutableBytes { unsafe write(to: $0, message) }
    return code
  }

  /// The code as a key: written straight into secret memory.
  package func secretCode(of message: (inout HMACMessage) -> Void) -> SecretBytes {
    var code = SecretBytes(zeroes: algorithm.digestByteCount)
    unsafe code.modify { unsafe write(to: $0, message) }
    return code
  }

  /// Writes the code of `message` to the first bytes of `code`, without an allocation.
  ///
  /// - Precondition: `code` has room for a hash value.
  package func write(to code: UnsafeMutableRawBufferPointer, _ message: (inout HMACMessage) -> Void) {
    precondition(code.count >= algorithm.digestByteCount, "KeyedHMAC.write(to:_:): buffer too short")
    let start = code.baseAddress!
    switch algorithm {
    case .sha1: unsafe write(SHA1Core.self, to: start, wrapping: HMACMessage.sha1, message: message)
    case .sha256: unsafe write(SHA256Core.self, to: start, wrapping: HMACMessage.sha256, message: message)
    case .sha512: unsafe write(SHA512Core.self, to: start, wrapping: HMACMessage.sha512, message: message)
    }
  }

  @inline(__always)
  private func write<Hash: HashCore>(
    _ hash: Hash.Type, to code: UnsafeMutableRawPointer,
    wrapping wrap: (UnsafeMutablePointer<Hash.Context>) -> HMACMessage.Context,
    message: (inout HMACMessage) -> Void
  ) {
    unsafe withMidstates(of: hash) { midstates in
      unsafe withUnsafeTemporaryAllocation(of: Hash.Context.self, capacity: 1) { work in
        unsafe HMACCore<Hash>.authenticate(midstates, work: work.baseAddress!, into: code) { context in
          var feed = unsafe HMACMessage(wrap(context))
          message(&feed)
        }
        unsafe wipe(UnsafeMutableRawBufferPointer(work))
      }
    }
  }

  @inline(__always)
  func withMidstates<Hash: HashCore, Result>(
    of hash: Hash.Type, _ body: (UnsafePointer<Hash.Context>) -> Result
  ) -> Result {
    midstates.expose { bytes in
      unsafe bytes.withUnsafeBytes { unsafe body($0.baseAddress!.assumingMemoryBound(to: Hash.Context.self)) }
    }
  }

  private static func midstates(of key: RawSpan, _ algorithm: HashAlgorithm) -> SecretBytes {
    switch algorithm {
    case .sha1: midstates(of: key, SHA1Core.self)
    case .sha256: midstates(of: key, SHA256Core.self)
    case .sha512: midstates(of: key, SHA512Core.self)
    }
  }

  private static func midstates<Hash: HashCore>(of key: RawSpan, _ hash: Hash.Type) -> SecretBytes {
    var midstates = SecretBytes(zeroes: 2 * MemoryLayout<Hash.Context>.stride)
    unsafe midstates.modify { bytes in
      let contexts = unsafe bytes.baseAddress!.assumingMemoryBound(to: Hash.Context.self)
      unsafe key.withUnsafeBytes { unsafe HMACCore<Hash>.absorb(key: $0, into: contexts) }
    }
    return midstates
  }
}
