import COpenSSL

/// Whether the numbers of an RSA key belong together (RFC 8017 §3.2), and its public half does not give its factors away.
///
/// OpenSSL has a check too. It computes (p−1)(q−1) and the least common multiple of p−1 and q−1, either of which gives the primes
/// away, and version 3.0 leaves both in freed memory. Here, every number is wiped.
enum RSAConsistency {
  /// - Throws: ``CryptoError/invalidKey`` if they do not belong together; ``CryptoError/weakKey`` for factors that are close to each
  ///   other or come from the generator of ``WeakPrimes``.
  static func verify(_ key: borrowing PKeyHandle) throws(CryptoError) {
    guard let scratch = unsafe BN_CTX_new_ex(OpenSSL.keyContext) else { throw .outOfMemory }
    // It wipes its numbers.
    defer { unsafe BN_CTX_free(scratch) }
    let modulus = try number("n", of: key)
    let p = try number("rsa-factor1", of: key)
    let q = try number("rsa-factor2", of: key)
    let product = try WipedNumber()
    try unsafe check(BN_mul(product.pointer, p.pointer, q.pointer, scratch))
    guard unsafe BN_cmp(product.pointer, modulus.pointer) == 0 else { throw .invalidKey }
    // Close factors are found from their product by its root (Fermat): FIPS 186-5 A.1.1 wants a difference in the first 100 bits.
    let difference = try WipedNumber()
    try unsafe check(BN_sub(difference.pointer, p.pointer, q.pointer))
    guard unsafe BN_num_bits(difference.pointer) > BN_num_bits(p.pointer) - 100 else { throw .weakKey }
    guard try !WeakPrimes.made(key.publicNumber("n")) else { throw .weakKey }
    try unsafe checkExponent("rsa-exponent1", of: p, in: key, scratch)
    try unsafe checkExponent("rsa-exponent2", of: q, in: key, scratch)
    let coefficient = try number("rsa-coefficient1", of: key)
    try unsafe check(BN_mod_mul(product.pointer, coefficient.pointer, q.pointer, p.pointer, scratch))
    guard unsafe BN_cmp(coefficient.pointer, p.pointer) < 0, unsafe BN_is_one(product.pointer) == 1 else {
      throw .invalidKey
    }
  }

  /// A factor is a prime, its exponent is the private one modulo the factor less 1, and undoes the public one.
  private static func checkExponent(
    _ name: String, of prime: borrowing WipedNumber, in key: borrowing PKeyHandle, _ scratch: OpaquePointer
  ) throws(CryptoError) {
    let isPrime = unsafe BN_check_prime(prime.pointer, scratch, nil)
    guard isPrime >= 0 else { throw .outOfMemory }
    guard isPrime == 1 else { throw .invalidKey }
    let order = try WipedNumber()
    let exponent = try number(name, of: key)
    let result = try WipedNumber()
    try unsafe check(BN_copy(order.pointer, prime.pointer) == nil ? 0 : BN_sub_word(order.pointer, 1))
    let whole = try number("d", of: key)
    let open = try number("e", of: key)
    try unsafe check(BN_nnmod(result.pointer, whole.pointer, order.pointer, scratch))
    guard unsafe BN_cmp(result.pointer, exponent.pointer) == 0 else { throw .invalidKey }
    try unsafe check(BN_mod_mul(result.pointer, exponent.pointer, open.pointer, order.pointer, scratch))
    guard unsafe BN_is_one(result.pointer) == 1 else { throw .invalidKey }
  }

  private static func number(_ name: String, of key: borrowing PKeyHandle) throws(CryptoError) -> WipedNumber
  {
    var number: OpaquePointer?
    try unsafe check(EVP_PKEY_get_bn_param(key.pointer, name, &number), orThrow: .invalidKey)
    return try unsafe WipedNumber(number)
  }
}

/// A number that is wiped at its end.
@safe
private struct WipedNumber: ~Copyable {
  let pointer: OpaquePointer

  init() throws(CryptoError) { try unsafe self.init(BN_new()) }

  init(_ number: OpaquePointer?) throws(CryptoError) {
    guard let number = unsafe number else { throw .outOfMemory }
    unsafe pointer = unsafe number
  }

  deinit { unsafe BN_clear_free(pointer) }
}
