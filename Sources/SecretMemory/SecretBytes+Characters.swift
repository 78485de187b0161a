extension SecretBytes {
  /// Characters of an alphabet, each equally likely.
  ///
  /// Bytes beyond the largest multiple of the alphabet's size are drawn again, so that no character is likelier.
  /// - Parameters:
  ///   - alphabet: 1 to 256 characters of one byte.
  ///   - random: Gives this number of random bytes.
  package static func characters<E: Error>(
    _ count: Int, of alphabet: [UInt8], from random: (Int) throws(E) -> SecretBytes
  ) throws(E) -> SecretBytes {
    precondition(1...256 ~= alphabet.count, "SecretBytes.characters(_:of:from:): 1 to 256 characters")
    let limit = 256 - 256 % alphabet.count
    return try SecretBytes(capacity: count) { output throws(E) in
      while output.freeCapacity > 0 {
        let drawn = try random(256)
        drawn.expose { bytes in
          for offset in 0..<bytes.byteCount where output.freeCapacity > 0 {
            let byte = unsafe Int(bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self))
            if byte < limit { output.append(alphabet[byte % alphabet.count]) }
          }
        }
      }
    }
  }
}
