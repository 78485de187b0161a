import COpenSSL
import SecretMemory

/// Points on the curves of ECDSA.
enum CurvePoint {
  /// The public half of a scalar, uncompressed.
  ///
  /// - Parameter shown: The public half as a file has it, compressed or not; `nil` if it has none.
  /// - Throws: ``CryptoError/malformed`` if it is another point.
  static func uncompressed(
    of scalar: borrowing SecretBytes, _ type: SigningKeyType, shown: [UInt8]?
  ) throws(CryptoError) -> [UInt8] {
    let group = try unsafe group(of: type)
    let (point, other) = unsafe (EC_POINT_new(group), EC_POINT_new(group))
    let number = unsafe scalar.expose { scalar in
      unsafe scalar.withUnsafeBytes {
        unsafe BN_bin2bn($0.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32($0.count), nil)
      }
    }
    defer {
      unsafe BN_clear_free(number)
      unsafe EC_POINT_free(point)
      unsafe EC_POINT_free(other)
    }
    guard unsafe point != nil, unsafe other != nil, unsafe number != nil else { throw .outOfMemory }
    try unsafe check(EC_POINT_mul(group, point, number, nil, nil, nil))
    if let shown {
      let isEqual =
        unsafe EC_POINT_oct2point(group, other, shown, shown.count, nil) == 1
        && EC_POINT_cmp(group, point, other, nil) == 0
      ERR_clear_error()
      guard isEqual else { throw .malformed }
    }
    let count = type.pointByteCount
    return unsafe [UInt8](unsafeUninitializedCapacity: count) { bytes, written in
      written = unsafe EC_POINT_point2oct(
        group, point, POINT_CONVERSION_UNCOMPRESSED, bytes.baseAddress, count, nil)
    }
  }

  /// Whether an uncompressed point is on the curve. Such a point is of the order of the curve, whose cofactor is 1.
  static func isOnCurve(_ bytes: [UInt8], _ type: SigningKeyType) throws(CryptoError) -> Bool {
    guard bytes.count == type.pointByteCount, bytes[0] == 4 else { return false }
    let group = try unsafe group(of: type)
    let point = unsafe EC_POINT_new(group)
    defer { unsafe EC_POINT_free(point) }
    guard unsafe point != nil else { throw .outOfMemory }
    let result = unsafe EC_POINT_oct2point(group, point, bytes, bytes.count, nil)
    ERR_clear_error()
    return result == 1
  }

  /// The group of a curve, made at the first use and never freed.
  private static func group(of type: SigningKeyType) throws(CryptoError) -> OpaquePointer {
    guard let group = unsafe (type == .p256 ? p256 : p384).pointer else { throw .outOfMemory }
    return unsafe group
  }

  private static let p256 = unsafe made(NID_X9_62_prime256v1)
  private static let p384 = unsafe made(NID_secp384r1)

  private static func made(_ curve: Int32) -> OpenSSL.Kept {
    OpenSSL.start
    return unsafe OpenSSL.Kept(pointer: EC_GROUP_new_by_curve_name(curve))
  }
}
