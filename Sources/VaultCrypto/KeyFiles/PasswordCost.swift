import COpenSSL

/// How many iterations a file may ask for before it opens: all of its derivations together. The numbers are in clear, so a
/// file is refused before anything is derived from its passphrase.
struct PasswordCost {
  /// A file of a few seconds. Usual ones ask for thousands, careful ones for a million for each of three derivations.
  static var limit: UInt64 { 10_000_000 }

  private var left = limit

  /// Counts an algorithm that derives a key from a passphrase.
  ///
  /// - Throws: ``KeyFileError/unsupportedEncryption``, ``KeyFileError/tooManyIterations``, ``KeyFileError/malformed``.
  mutating func take(_ algorithm: UnsafePointer<X509_ALGOR>) throws(KeyFileError) {
    switch unsafe OBJ_obj2nid(algorithm.pointee.algorithm) {
    case NID_pbes2: try unsafe takePBES2(algorithm)
    case NID_pbe_WithSHA1And3_Key_TripleDES_CBC, NID_pbe_WithSHA1And2_Key_TripleDES_CBC:
      let parameters = try unsafe Self.unpacked(PBEPARAM_it(), algorithm, as: PBEPARAM.self)
      defer { unsafe PBEPARAM_free(parameters) }
      try unsafe take(parameters.pointee.iter)
    default: throw .unsupportedEncryption
    }
  }

  /// Counts iterations; without a number it is one.
  mutating func take(_ iterations: UnsafePointer<ASN1_INTEGER>?) throws(KeyFileError) {
    var count: UInt64 = 1
    if let iterations = unsafe iterations, unsafe ASN1_INTEGER_get_uint64(&count, iterations) != 1 {
      ERR_clear_error()
      throw .tooManyIterations
    }
    guard count > 0 else { throw .malformed }
    guard count <= left else { throw .tooManyIterations }
    left -= count
  }

  /// PBKDF2 and a cipher (RFC 8018 §6.2).
  private mutating func takePBES2(_ algorithm: UnsafePointer<X509_ALGOR>) throws(KeyFileError) {
    let scheme = try unsafe Self.unpacked(PBE2PARAM_it(), algorithm, as: PBE2PARAM.self)
    defer { unsafe PBE2PARAM_free(scheme) }
    let ciphers = [NID_aes_128_cbc, NID_aes_192_cbc, NID_aes_256_cbc, NID_des_ede3_cbc]
    guard unsafe OBJ_obj2nid(scheme.pointee.keyfunc.pointee.algorithm) == NID_id_pbkdf2,
      unsafe ciphers.contains(OBJ_obj2nid(scheme.pointee.encryption.pointee.algorithm))
    else { throw .unsupportedEncryption }
    let derivation = try unsafe Self.unpacked(
      PBKDF2PARAM_it(), UnsafePointer(scheme.pointee.keyfunc), as: PBKDF2PARAM.self)
    defer { unsafe PBKDF2PARAM_free(derivation) }
    guard unsafe derivation.pointee.iter != nil else { throw .malformed }
    try unsafe take(derivation.pointee.iter)
  }

  private static func unpacked<Parameters>(
    _ template: OpaquePointer?, _ algorithm: UnsafePointer<X509_ALGOR>, as type: Parameters.Type
  ) throws(KeyFileError) -> UnsafeMutablePointer<Parameters> {
    guard let found = unsafe ASN1_TYPE_unpack_sequence(template, algorithm.pointee.parameter) else {
      ERR_clear_error()
      throw .malformed
    }
    return unsafe found.assumingMemoryBound(to: type)
  }
}
