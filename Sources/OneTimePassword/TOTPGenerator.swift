public import SecretMemory

/// Generates the codes of one credential that follow the clock (RFC 6238). It has no clock: the time is an
/// argument.
public struct TOTPGenerator: ~Copyable, Sendable {
  /// The generator for step numbers, which also verifies.
  public let hotp: HOTPGenerator
  /// How time is divided into steps.
  public let steps: TimeSteps

  /// A generator of decimal codes.
  ///
  /// - Parameters:
  ///   - key: The shared secret, 1 byte or more.
  ///   - algorithm: The hash under the HMAC.
  ///   - digits: The length of a code, 6, 7 or 8.
  ///   - periodSeconds: The length of a step, 1 or more.
  ///   - t0: The Unix time at which step 0 begins.
  /// - Throws: ``OTPError/Code/emptyKey``, ``OTPError/Code/invalidDigits``, ``OTPError/Code/invalidPeriod``.
  public init(
    key: borrowing SecretBytes, algorithm: OTPAlgorithm = .sha1, digits: Int = 6,
    periodSeconds: Int64 = 30, t0: Int64 = 0
  ) throws(OTPError) {
    let format = try OTPFormat.decimal(digits)
    let steps = try TimeSteps(periodSeconds: periodSeconds, t0: t0)
    try self.init(key: key, algorithm: algorithm, format: format, steps: steps)
  }

  /// A generator of Steam codes: SHA-1, 30 seconds, five characters.
  ///
  /// - Throws: ``OTPError/Code/emptyKey``.
  public init(steamKey key: borrowing SecretBytes) throws(OTPError) {
    try self.init(key: key, algorithm: .sha1, format: .steam, steps: TimeSteps())
  }

  /// A generator of codes of any format.
  ///
  /// - Throws: ``OTPError/Code/emptyKey``.
  public init(
    key: borrowing SecretBytes, algorithm: OTPAlgorithm, format: OTPFormat, steps: TimeSteps
  ) throws(OTPError) {
    let hotp = try HOTPGenerator(key: key, algorithm: algorithm, format: format)
    self.hotp = hotp
    self.steps = steps
  }

  /// The code that is valid at a moment, and the step in which it is valid.
  ///
  /// - Parameter unixTime: Seconds since 1970.
  /// - Throws: ``OTPError/Code/timeOutOfRange`` before T0.
  public func code(at unixTime: Int64) throws(OTPError) -> TimedCode {
    let step = try steps.step(at: unixTime)
    return TimedCode(code: hotp.code(at: step.number), step: step)
  }
}
