import VaultCrypto

/// The kinds of public key that tokens know, with the numbers of the key, read from its SubjectPublicKeyInfo and written as one.
enum PublicKeyForm: Equatable {
  /// The point, x and y, 32 bytes each.
  case p256(x: [UInt8], y: [UInt8])
  /// 48 bytes each.
  case p384(x: [UInt8], y: [UInt8])
  /// The point, 32 bytes.
  case ed25519([UInt8])
  /// Modulus and exponent without zero bytes in front.
  case rsa(modulus: [UInt8], exponent: [UInt8])

  /// - Throws: ``JOSEError/keyMismatch`` for a key of another kind.
  init(of key: VerifyingKey) throws(JOSEError) {
    let spki = key.spki
    if let point = spki.after(Self.p256Head), point.count == 64 {
      self = .p256(x: Array(point.prefix(32)), y: Array(point.suffix(32)))
    } else if let point = spki.after(Self.p384Head), point.count == 96 {
      self = .p384(x: Array(point.prefix(48)), y: Array(point.suffix(48)))
    } else if let point = spki.after(Self.ed25519Head), point.count == 32 {
      self = .ed25519(point)
    } else if let numbers = Self.rsaNumbers(in: spki) {
      self = .rsa(modulus: numbers.modulus, exponent: numbers.exponent)
    } else {
      throw .keyMismatch
    }
  }

  /// The key, checked: a point is on its curve, and RSA has a length that this program has.
  ///
  /// - Throws: ``JOSEError/refusedKey(_:)``.
  func key() throws(JOSEError) -> VerifyingKey {
    let spki: [UInt8]
    switch self {
    case .p256(let x, let y): spki = Self.p256Head + x + y
    case .p384(let x, let y): spki = Self.p384Head + x + y
    case .ed25519(let point): spki = Self.ed25519Head + point
    case .rsa(let modulus, let exponent):
      try Self.check(modulus: modulus, exponent: exponent)
      let numbers = Self.sequence(Self.integer(modulus) + Self.integer(exponent))
      spki = Self.sequence(Self.rsaAlgorithm + Self.element(0x03, [0] + numbers))
    }
    do throws(CryptoError) { return try VerifyingKey(spki: spki) } catch {
      throw .refusedKey("the public key is none: its point is not on the curve, or it has another length")
    }
  }

  /// Refuses what signs nothing, and keys of a generator whose primes can be found (CVE-2017-15361).
  private static func check(modulus: [UInt8], exponent: [UInt8]) throws(JOSEError) {
    guard exponent.last.map({ $0 & 1 == 1 }) == true, exponent != [1], exponent.count <= 8 else {
      throw .refusedKey("the public exponent of the RSA key is 1, even or too large")
    }
    guard modulus.count >= 256 else { throw .refusedKey("the RSA key has fewer than 2,048 bits") }
    guard !WeakPrimes.made(modulus) else {
      throw .refusedKey("the RSA key comes from a generator whose keys can be broken (ROCA)")
    }
  }

  /// What a key of a curve begins with.
  static let heads = [p256Head, p384Head, ed25519Head]

  private static let p256Head: [UInt8] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86,
    0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
  ]
  private static let p384Head: [UInt8] = [
    0x30, 0x76, 0x30, 0x10, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x05, 0x2b, 0x81,
    0x04, 0x00, 0x22, 0x03, 0x62, 0x00, 0x04,
  ]
  private static let ed25519Head: [UInt8] = [
    0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
  ]
  private static let rsaAlgorithm: [UInt8] = [
    0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00,
  ]
}

// MARK: The DER of an RSA key (RFC 8017 A.1.1)

extension PublicKeyForm {
  private static func sequence(_ content: [UInt8]) -> [UInt8] { element(0x30, content) }

  private static func integer(_ number: [UInt8]) -> [UInt8] {
    element(0x02, number.first.map { $0 >= 0x80 } == true ? [0] + number : number)
  }

  private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
    let count = content.count
    let length: [UInt8] =
      switch count {
      case ..<0x80: [UInt8(count)]
      case ..<0x100: [0x81, UInt8(count)]
      default: [0x82, UInt8(count >> 8), UInt8(count & 0xff)]
      }
    return [tag] + length + content
  }

  /// - Parameter spki: As the library wrote it.
  private static func rsaNumbers(in spki: [UInt8]) -> (modulus: [UInt8], exponent: [UInt8])? {
    var outer = spki[...]
    guard var info = take(0x30, &outer), info.starts(with: rsaAlgorithm) else { return nil }
    info = info.dropFirst(rsaAlgorithm.count)
    guard var bits = take(0x03, &info), bits.popFirst() == 0, var numbers = take(0x30, &bits),
      let modulus = take(0x02, &numbers), let exponent = take(0x02, &numbers)
    else { return nil }
    return (Array(modulus.drop { $0 == 0 }), Array(exponent.drop { $0 == 0 }))
  }

  /// The content of the next element, if it has the tag.
  private static func take(_ tag: UInt8, _ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    guard rest.popFirst() == tag, let first = rest.popFirst() else { return nil }
    var count = Int(first)
    if first > 0x80 {
      guard first <= 0x82 else { return nil }
      count = 0
      for _ in 0..<first - 0x80 {
        guard let byte = rest.popFirst() else { return nil }
        count = count << 8 | Int(byte)
      }
    }
    guard first != 0x80, rest.count >= count else { return nil }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }
}

extension [UInt8] {
  fileprivate func after(_ head: [UInt8]) -> [UInt8]? {
    starts(with: head) ? Array(dropFirst(head.count)) : nil
  }
}
