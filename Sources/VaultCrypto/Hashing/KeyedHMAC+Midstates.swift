extension KeyedHMAC {
  /// Copies the chaining words after the inner and after the outer key block, in native order, for code that
  /// computes many HMACs at once: twice 20, 32 or 64 bytes.
  ///
  /// - Precondition: `words` has that many bytes; it is secret memory.
  package func copyMidstates(to words: UnsafeMutableRawBufferPointer) {
    switch algorithm {
    case .sha1: unsafe copyMidstates(of: SHA1Core.self, to: words)
    case .sha256: unsafe copyMidstates(of: SHA256Core.self, to: words)
    case .sha512: unsafe copyMidstates(of: SHA512Core.self, to: words)
    }
  }

  /// OpenSSL's contexts begin with the chaining words, as many bytes as a hash value has.
  private func copyMidstates<Hash: HashCore>(of hash: Hash.Type, to words: UnsafeMutableRawBufferPointer) {
    let size = Hash.digestByteCount
    precondition(words.count == 2 * size, "KeyedHMAC.copyMidstates(to:): wrong length")
    unsafe withMidstates(of: hash) { contexts in
      unsafe words.baseAddress!.copyMemory(from: contexts, byteCount: size)
      unsafe (words.baseAddress! + size).copyMemory(from: contexts + 1, byteCount: size)
    }
  }
}
