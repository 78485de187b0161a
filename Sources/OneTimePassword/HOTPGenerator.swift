public import SecretMemory
import VaultCrypto

/// The codes of one credential (RFC 4226), made from a key that was hashed once.
///
/// The keyed midstates lie in secret memory and are wiped when the generator ends. Every 64-bit counter is allowed.
public struct HOTPGenerator: ~Copyable, Sendable {
  /// The hash under the HMAC.
  public let algorithm: OTPAlgorithm
  /// What a code looks like.
  public let format: OTPFormat
  private let hmac: KeyedHMAC

  /// A generator of decimal codes.
  ///
  /// - Parameters:
  ///   - key: The shared secret, 1 byte or more; 20 recommended (RFC 4226 §4, R6).
  ///   - digits: The length of a code, 6, 7 or 8.
  /// - Throws: ``OTPError/emptyKey``, ``OTPError/invalidDigits``.
  public init(
    key: borrowing SecretBytes, algorithm: OTPAlgorithm = .sha1, digits: Int = 6
  ) throws(OTPError) {
    let format = try OTPFormat.decimal(digits)
    try self.init(key: key, algorithm: algorithm, format: format)
  }

  /// A generator of codes of any format.
  ///
  /// - Throws: ``OTPError/emptyKey``.
  public init(
    key: borrowing SecretBytes, algorithm: OTPAlgorithm, format: OTPFormat
  ) throws(OTPError) {
    guard key.byteCount > 0 else { throw .emptyKey }
    self.algorithm = algorithm
    self.format = format
    self.hmac = KeyedHMAC(key: key, algorithm: algorithm.hash)
  }

  /// The code for a counter as a number below ``OTPFormat/modulus``.
  ///
  /// - Complexity: One HMAC over 8 bytes, keyed midstates: two calls of the compression function.
  public func value(at counter: UInt64) -> UInt32 {
    truncatedValue(at: counter) % format.modulus
  }

  /// The code for a counter: exactly ``OTPFormat/length`` characters, zeros kept on the left.
  ///
  /// - Parameter counter: The moving factor, hashed as 8 bytes, big-endian.
  public func code(at counter: UInt64) -> String {
    format.text(of: truncatedValue(at: counter))
  }

  /// The 31 bits that dynamic truncation leaves of the HMAC (RFC 4226 §5.3).
  public func truncatedValue(at counter: UInt64) -> UInt32 {
    hmac.truncatedCode(forCounter: counter)
  }

  /// The smallest counter of `window` whose code is `code`; `nil` for none and for a code of another format.
  ///
  /// Every candidate is computed and compared, wherever the match is.
  public func firstMatch(of code: OTPCode, in window: ClosedRange<UInt64>) -> UInt64? {
    guard code.format == format else { return nil }
    var match = FirstMatch()
    var counter = window.lowerBound
    while true {
      match.note(counter, isMatch: value(at: counter) ^ code.value == 0)
      if counter == window.upperBound { return match.counter }
      counter += 1
    }
  }

  /// The smallest counter of `window` whose code is `code`; `nil` for an empty window.
  public func firstMatch(of code: OTPCode, in window: Range<UInt64>) -> UInt64? {
    window.isEmpty ? nil : firstMatch(of: code, in: window.lowerBound...window.upperBound - 1)
  }

  /// The smallest counter of `window` whose code is `first` while the one of the next counter is `second`.
  ///
  /// Every candidate is computed and compared. A counter without a successor matches nothing.
  public func firstMatch(
    of first: OTPCode, then second: OTPCode, in window: ClosedRange<UInt64>
  ) -> UInt64? {
    guard first.format == format, second.format == format, window.lowerBound < .max else { return nil }
    var match = FirstMatch()
    let last = min(window.upperBound, .max - 1)
    var current = value(at: window.lowerBound)
    for counter in window.lowerBound...last {
      let next = value(at: counter + 1)
      match.note(counter, isMatch: (current ^ first.value) | (next ^ second.value) == 0)
      current = next
    }
    return match.counter
  }
}

/// The first match of a run of candidates, kept without a branch on what matched.
struct FirstMatch {
  private var found: UInt64 = 0
  private var result: UInt64 = 0

  /// Notes one candidate.
  mutating func note(_ counter: UInt64, isMatch: Bool) {
    let mask = (0 &- UInt64(isMatch ? 1 : 0)) & ~found
    result |= counter & mask
    found |= mask
  }

  /// The counter of the first match, if there was one.
  var counter: UInt64? { found == 0 ? nil : result }
}

extension OTPAlgorithm {
  fileprivate var hash: HashAlgorithm {
    switch self {
    case .sha1: .sha1
    case .sha256: .sha256
    case .sha512: .sha512
    }
  }
}
