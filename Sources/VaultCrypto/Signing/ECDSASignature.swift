/// The two encodings of an ECDSA signature: r ‖ s, and a DER sequence of two integers.
enum ECDSASignature {
  /// - Parameter type: The curve, which says how long r and s are.
  /// - Throws: ``CryptoError/signatureMismatch`` when `raw` is not twice as long as a scalar.
  static func der(fromRaw raw: [UInt8], type: SigningKeyType) throws(CryptoError) -> [UInt8] {
    guard raw.count == 2 * type.scalarByteCount else { throw .signatureMismatch }
    let body = integer(raw[..<type.scalarByteCount]) + integer(raw[type.scalarByteCount...])
    return [0x30, UInt8(body.count)] + body
  }

  /// - Parameter der: As OpenSSL has just made it.
  static func raw(fromDER der: [UInt8], type: SigningKeyType) throws(CryptoError) -> [UInt8] {
    guard der.count > 4, der[0] == 0x30, Int(der[1]) == der.count - 2 else { throw .malformed }
    var rest = der[2...]
    let raw =
      try number(&rest, byteCount: type.scalarByteCount) + number(&rest, byteCount: type.scalarByteCount)
    guard rest.isEmpty else { throw .malformed }
    return raw
  }

  /// INTEGER: no zero byte more than the sign needs.
  private static func integer(_ number: ArraySlice<UInt8>) -> [UInt8] {
    var digits = Array(number.drop { $0 == 0 })
    if digits.isEmpty || digits[0] >= 0x80 { digits.insert(0, at: 0) }
    return [0x02, UInt8(digits.count)] + digits
  }

  /// The next INTEGER of `rest` as so many bytes.
  private static func number(
    _ rest: inout ArraySlice<UInt8>, byteCount: Int
  ) throws(CryptoError) -> [UInt8] {
    guard rest.popFirst() == 0x02, let count = rest.popFirst(), Int(count) <= rest.count else {
      throw .malformed
    }
    let digits = rest.prefix(Int(count)).drop { $0 == 0 }
    rest = rest.dropFirst(Int(count))
    guard digits.count <= byteCount else { throw .malformed }
    return [UInt8](repeating: 0, count: byteCount - digits.count) + digits
  }
}
