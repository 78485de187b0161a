/// The RSA keys of a generator whose primes have the form k·M + (65537^a mod M) (CVE-2017-15361, “ROCA”).
package enum WeakPrimes {
  /// Whether the modulus has the mark of that generator: for each of 38 small primes p, its rest is a power of 65537 mod p. A
  /// modulus of another generator has it once in about 2^27.
  ///
  /// - Parameter modulus: Big-endian.
  package static func made(_ modulus: [UInt8]) -> Bool {
    primes.allSatisfy { prime in
      let rest = modulus.reduce(0) { ($0 << 8 | Int($1)) % prime }
      return powers(of: 65537 % prime, modulo: prime).contains(rest)
    }
  }

  private static func powers(of base: Int, modulo prime: Int) -> Set<Int> {
    var found: Set<Int> = []
    var power = 1
    while found.insert(power).inserted { power = power * base % prime }
    return found
  }

  private static let primes = [
    3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103,
    107,
    109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167,
  ]
}
