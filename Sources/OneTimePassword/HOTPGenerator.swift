import COTPKernels
public import SecretMemory
import VaultCrypto

// The front page of OneTimePassword: HOTP, TOTP, Steam and OCRA codes as pure values. The module knows no vault,
// no store and no clock. Read in this order:
//
// - `HOTPGenerator` and `TOTPGenerator` make codes in an `OTPFormat`; `TimeSteps` divides time into steps.
// - `HOTPVerifier` and `TOTPVerifier` judge an `OTPCode` with an `OTPVerdict`; `Throttle` delays after
//   wrong codes. `BulkVerifier` judges the codes of many credentials at once.
// - `OCRAGenerator` makes and checks codes for challenges and for data that is signed.
// - `OTPAuthURI` reads and writes what services print into QR codes, with `Base32`.
// - `CounterReservation` is for provers that work without their store for a while.
// - `OTPLanes` chooses how the processor computes many codes. `OTPError` is the error of the module.

/// Generates the codes of one credential (RFC 4226). The key is hashed once.
///
/// The keyed midstates are in secret memory, and are wiped when the generator ends. Every 64-bit counter is
/// allowed.
public struct HOTPGenerator: ~Copyable, Sendable {
  /// The hash under the HMAC.
  public let algorithm: OTPAlgorithm
  /// The format of the codes.
  public let format: OTPFormat
  private let hmac: KeyedHMAC
  private let midstates: SecretBytes
  private let lanes: OTPLanes

  /// A generator of decimal codes.
  ///
  /// - Parameters:
  ///   - key: The shared secret, 1 byte or more; 20 recommended (RFC 4226 §4, R6).
  ///   - algorithm: The hash under the HMAC.
  ///   - digits: The length of a code, 6, 7 or 8.
  /// - Throws: ``OTPError/Code/emptyKey``, ``OTPError/Code/invalidDigits``.
  public init(
    key: borrowing SecretBytes, algorithm: OTPAlgorithm = .sha1, digits: Int = 6
  ) throws(OTPError) {
    let format = try OTPFormat.decimal(digits)
    try self.init(key: key, algorithm: algorithm, format: format)
  }

  /// A generator of codes of any format.
  ///
  /// - Throws: ``OTPError/Code/emptyKey``.
  public init(
    key: borrowing SecretBytes, algorithm: OTPAlgorithm, format: OTPFormat
  ) throws(OTPError) {
    try self.init(key: key, algorithm: algorithm, format: format, lanes: .best(for: algorithm))
  }

  /// A generator that uses the given lanes, so that a test can cover each.
  package init(
    key: borrowing SecretBytes, algorithm: OTPAlgorithm, format: OTPFormat, lanes: OTPLanes
  ) throws(OTPError) {
    guard key.byteCount > 0 else { throw .emptyKey }
    precondition(lanes.isSupported(for: algorithm), "HOTPGenerator: this processor has no such lanes")
    let hmac = KeyedHMAC(key: key, algorithm: algorithm.hash)
    var midstates = SecretBytes(zeroes: algorithm.midstateByteCount)
    unsafe midstates.modify { unsafe hmac.copyMidstates(to: $0) }
    self.algorithm = algorithm
    self.format = format
    self.hmac = hmac
    self.midstates = midstates
    self.lanes = lanes
  }

  /// The code for a counter as a number, which ``OTPFormat/text(of:)`` writes.
  ///
  /// - Complexity: One HMAC over 8 bytes, keyed midstates: two calls of the compression function.
  public func value(at counter: UInt64) -> UInt32 {
    format.reduced(truncatedValue(at: counter))
  }

  /// The code for a counter: exactly ``OTPFormat/length`` characters, zeros kept on the left.
  ///
  /// - Parameter counter: The moving factor, hashed as 8 bytes, big-endian.
  public func code(at counter: UInt64) -> String {
    format.text(of: truncatedValue(at: counter))
  }

  /// The 31 bits that dynamic truncation leaves of the HMAC (RFC 4226 §5.3).
  package func truncatedValue(at counter: UInt64) -> UInt32 {
    hmac.truncatedCode(forCounter: counter)
  }

  /// The smallest counter of `window` whose code is `code`; `nil` for none and for a code of another format.
  ///
  /// Every candidate is computed and compared, wherever the match is.
  /// - Precondition: `window` has fewer than 2^63 counters.
  package func firstMatch(of code: OTPCode, in window: ClosedRange<UInt64>) -> UInt64? {
    guard code.format == format else { return nil }
    let count = Int(window.upperBound - window.lowerBound) + 1
    let index = unsafe withMidstates { midstates in
      unsafe otp_find(
        lanes.kernel, algorithm.kernel, midstates, window.lowerBound, count, format.modulus, code.value)
    }
    return index < count ? window.lowerBound + UInt64(index) : nil
  }

  /// The smallest counter of `window` whose code is `code`; `nil` for an empty window.
  package func firstMatch(of code: OTPCode, in window: Range<UInt64>) -> UInt64? {
    window.isEmpty ? nil : firstMatch(of: code, in: window.lowerBound...window.upperBound - 1)
  }

  /// The smallest counter of `window` whose code is `first` while the one of the next counter is `second`.
  ///
  /// Every candidate is computed and compared. A counter without a successor matches nothing.
  /// - Precondition: `window` has fewer than 2^63 counters.
  package func firstMatch(
    of first: OTPCode, then second: OTPCode, in window: ClosedRange<UInt64>
  ) -> UInt64? {
    guard first.format == format, second.format == format, window.lowerBound < .max else { return nil }
    let count = Int(min(window.upperBound, .max - 1) - window.lowerBound) + 1
    let index = unsafe withMidstates { midstates in
      unsafe otp_find_pair(
        lanes.kernel, algorithm.kernel, midstates, window.lowerBound, count, format.modulus, first.value,
        second.value)
    }
    return index < count ? window.lowerBound + UInt64(index) : nil
  }

  /// The 31 bits of `count` counters from `first` on, as the lanes compute them.
  package func truncatedValues(from first: UInt64, count: Int) -> [UInt32] {
    unsafe [UInt32](unsafeUninitializedCapacity: count) { values, initializedCount in
      unsafe withMidstates { midstates in
        unsafe otp_window(
          lanes.kernel, algorithm.kernel, midstates, first, count, values.baseAddress)
      }
      initializedCount = count
    }
  }

  private func withMidstates<R>(_ body: (UnsafeRawPointer) -> R) -> R {
    midstates.expose { span in
      unsafe span.withUnsafeBytes { unsafe body($0.baseAddress!) }
    }
  }

  /// Copies the midstate pair to other secret memory.
  func copyMidstates(to words: UnsafeMutableRawBufferPointer) {
    unsafe hmac.copyMidstates(to: words)
  }
}

extension OTPAlgorithm {
  /// A value for the key of codes that only this process knows. It is the same for keys that HMAC makes the same codes from: a key that
  /// is longer than a block and its hash value, and keys that differ in zeros at the end (RFC 2104, section 2).
  package func fingerprint(of key: borrowing SecretBytes) -> Int {
    guard key.byteCount <= (self == .sha512 ? 128 : 64) else { return Self.fingerprint(hash.hash(key)) }
    return Self.fingerprint(key)
  }

  private static func fingerprint(_ key: borrowing SecretBytes) -> Int {
    key.expose { key in
      unsafe key.withUnsafeBytes { bytes in
        var hasher = Hasher()
        let end = unsafe bytes.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0
        unsafe hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: bytes[..<end]))
        return hasher.finalize()
      }
    }
  }
}
