public import SecretMemory
import VaultCrypto

// The front page of OCRA. Read in this order:
//
// - `OCRASuite` is what both parties agreed on: the hash, the `OCRAFormat` of the codes, and what goes into them.
// - `OCRAQuestion` is a challenge, or the data that is signed. `OCRAChallenges` are the two of a mutual
//   authentication.
// - `OCRADataInput` are all values of one code; `OCRAPINHash` is the one that is secret.
// - `OCRACode` is a code that was received.

/// Makes and checks the codes of one credential for challenges and data (OCRA, RFC 6287). The key is hashed once.
///
/// One-way authentication (§7.1) and a plain signature (§7.3.1) are one call with one question. For mutual
/// authentication (§7.2) each party has a generator with its suite.
///
/// A code proves that its maker knows the key, and with a suite that has `P` also the PIN. The party that checks it knows
/// both too, so a code proves nothing to a third one. The keyed midstates are in secret memory, and are wiped when the
/// generator ends. It has no state: who signs with a counter stores the next one before the code is shown, and who checks
/// a code stores that it was used, and delays after wrong codes (``Throttle``).
public struct OCRAGenerator: ~Copyable, Sendable {
  /// The suite of the codes.
  public let suite: OCRASuite
  private let hmac: KeyedHMAC
  /// The suite and the separator, with which each message begins.
  private let prefix: [UInt8]

  /// A generator of the codes of a suite.
  ///
  /// - Parameters:
  ///   - key: The shared secret, 1 byte or more; 20 recommended (RFC 4226 §4, R6).
  ///   - suite: The suite of the codes.
  /// - Throws: ``OTPError/Code/emptyKey``.
  public init(key: borrowing SecretBytes, suite: OCRASuite) throws(OTPError) {
    guard key.byteCount > 0 else { throw .emptyKey }
    self.suite = suite
    self.hmac = KeyedHMAC(key: key, algorithm: suite.algorithm.hash)
    self.prefix = Array(suite.description.utf8) + [0]
  }

  /// The code for these values: exactly ``OCRASuite/codeLength`` characters.
  ///
  /// - Throws: ``OTPError/Code/missingInput``, ``OTPError/Code/unexpectedInput`` if the values are not those that the suite
  ///   names; ``OTPError/Code/invalidInput`` for a question of another format or length, a longer session information,
  ///   and a PIN hashed by another function.
  /// - Complexity: One HMAC over the suite and what it names, 151 to 767 bytes.
  public func code(for input: borrowing OCRADataInput) throws(OTPError) -> String {
    try input.check(for: suite)
    return text(for: input, counter: input.counter, timeStep: input.timeStep)
  }

  /// Whether a code is the one for these values, in a time that does not depend on where it differs.
  ///
  /// - Throws: As ``code(for:)``.
  public func isCode(_ code: OCRACode, for input: borrowing OCRADataInput) throws(OTPError) -> Bool {
    try input.check(for: suite)
    return matches(code, input, counter: input.counter, timeStep: input.timeStep)
  }

  /// The smallest counter of a window whose code this is, with the other values of `input`; `nil` for none.
  ///
  /// Every candidate is computed and compared, wherever the match is.
  /// - Parameters:
  ///   - code: What was received.
  ///   - input: The other values; its counter is the first candidate.
  ///   - count: How many counters are tried from ``OCRADataInput/counter`` on, at most ``HOTPVerifier/maximumWindow``;
  ///     none comes after 2^64 − 1.
  /// - Throws: As ``code(for:)``; ``OTPError/Code/unexpectedInput`` for a suite without counter,
  ///   ``OTPError/Code/invalidWindow``.
  public func firstCounter(
    of code: OCRACode, for input: borrowing OCRADataInput, count: UInt64
  ) throws(OTPError) -> UInt64? {
    try input.check(for: suite)
    guard let first = input.counter else { throw .unexpectedInput(.counter) }
    return try firstMatch(from: first, count: count) { counter in
      matches(code, input, counter: counter, timeStep: input.timeStep)
    }
  }

  /// The smallest time step of a window whose code this is, with the other values of `input`; `nil` for none.
  ///
  /// Every candidate is computed and compared, wherever the match is.
  /// - Parameters:
  ///   - code: What was received.
  ///   - input: The other values; its time step is the first candidate.
  ///   - count: How many steps are tried from ``OCRADataInput/timeStep`` on, at most ``HOTPVerifier/maximumWindow``.
  /// - Throws: As ``firstCounter(of:for:count:)``.
  public func firstTimeStep(
    of code: OCRACode, for input: borrowing OCRADataInput, count: UInt64
  ) throws(OTPError) -> UInt64? {
    try input.check(for: suite)
    guard let first = input.timeStep else { throw .unexpectedInput(.timeStep) }
    return try firstMatch(from: first, count: count) { timeStep in
      matches(code, input, counter: input.counter, timeStep: timeStep)
    }
  }

  private func firstMatch(
    from first: UInt64, count: UInt64, _ matches: (UInt64) -> Bool
  ) throws(OTPError) -> UInt64? {
    guard (1...HOTPVerifier.maximumWindow).contains(count) else { throw .invalidWindow }
    var found: UInt64?
    for candidate in first...(first + min(count - 1, .max - first)) where matches(candidate) {
      found = found ?? candidate
    }
    return found
  }

  private func matches(
    _ code: OCRACode, _ input: borrowing OCRADataInput, counter: UInt64?, timeStep: UInt64?
  ) -> Bool {
    let expected = Array(text(for: input, counter: counter, timeStep: timeStep).utf8)
    let given = Array(code.text.utf8)
    return unsafe isEqualInConstantTime(expected.span.bytes, given.span.bytes)
  }

  private func text(
    for input: borrowing OCRADataInput, counter: UInt64?, timeStep: UInt64?
  ) -> String {
    guard suite.format == .wholeHMAC else {
      return suite.format.text(
        of: hmac.truncatedCode { append(input, counter: counter, timeStep: timeStep, to: &$0) })
    }
    let code = hmac.code { append(input, counter: counter, timeStep: timeStep, to: &$0) }
    return String(decoding: Hexadecimal.digits(of: code), as: UTF8.self)
  }

  /// Feeds the values in the order of RFC 6287 §5.1. The hash of the PIN goes from secret memory into the state of the
  /// HMAC, which is wiped. There is no buffer with it.
  private func append(
    _ input: borrowing OCRADataInput, counter: UInt64?, timeStep: UInt64?, to message: inout HMACMessage
  ) {
    appendBeginning(counter: counter, question: input.question.encoded, to: &message)
    switch input.pinHash {
    case .some(let hash): message.append(hash.bytes)
    case .none: break
    }
    if let session = input.session, let length = suite.sessionByteCount {
      message.append([UInt8](repeating: 0, count: length - session.count))
      message.append(session)
    }
    if let timeStep { message.append(bigEndian: timeStep) }
  }
}

extension OCRAGenerator {
  /// Feeds what is public in one piece, because each piece costs a call of the hash function.
  @inline(__always)
  private func appendBeginning(counter: UInt64?, question: [UInt8], to message: inout HMACMessage) {
    let length = prefix.count + (counter == nil ? 0 : 8) + question.count
    unsafe withUnsafeTemporaryAllocation(byteCount: length, alignment: 8) { buffer in
      unsafe buffer.copyBytes(from: prefix)
      var end = prefix.count
      if let counter {
        unsafe buffer.storeBytes(of: counter.bigEndian, toByteOffset: end, as: UInt64.self)
        end += 8
      }
      unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[end...]).copyBytes(from: question)
      unsafe message.append(UnsafeRawBufferPointer(buffer).bytes)
    }
  }
}

extension HMACMessage {
  fileprivate mutating func append(bigEndian number: UInt64) {
    unsafe withUnsafeBytes(of: number.bigEndian) { bytes in unsafe append(bytes.bytes) }
  }
}
