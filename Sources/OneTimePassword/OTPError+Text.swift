@_exported public import ErrorRecovery

/// Texts for people and for the logs of programs. None contains a part of a secret, a code or a name.
extension OTPError: CustomStringConvertible {
  /// The code and the message, on one line.
  public var description: String { "\(code): \(message)" }

  /// One line for a person, without a final period.
  public var message: String {
    switch code {
    case .emptyKey: "the secret is empty"
    case .secretTooShort: "the secret is shorter than 80 bits"
    case .secretTooLong: "the secret is longer than 512 bytes"
    case .invalidBase32: "the secret is not Base32" + (position.map { " (character \($0 + 1))" } ?? "")
    case .unknownAlgorithm: "the algorithm is not SHA1, SHA256 or SHA512"
    case .invalidDigits: "the number of digits of a code is not 6, 7 or 8"
    case .invalidPeriod: "the period is not a whole number of seconds, 1 or more"
    case .invalidCounter: "the counter is not a number from 0 to 2^64 - 1"
    case .counterExhausted: "the counter has reached its end"
    case .timeOutOfRange: "the time is out of range"
    case .invalidCode: "that is not a code of this credential: it has another length or other characters"
    case .invalidWindow: "the window is too large"
    case .invalidReservation: "the block of counters is too large"
    case .invalidURI: "that is not an otpauth URI" + (fault.map { ": \($0)" } ?? "")
    case .invalidSuite, .missingInput, .unexpectedInput, .invalidInput, .invalidData: ocraMessage
    default: code.rawValue
    }
  }

  private var ocraMessage: String {
    let name = part?.name ?? "value"
    switch code {
    case .invalidSuite:
      return "that is not an OCRA suite" + (position.map { " (character \($0 + 1))" } ?? "")
        + (part.map { ": \($0)" } ?? "")
    case .missingInput: return "the suite needs a \(name)"
    case .unexpectedInput: return "the suite has no \(name)"
    case .invalidInput: return "the suite does not allow this \(name)" + (part.map { ": \($0.limit)" } ?? "")
    default: return "the suite cannot sign this data; a suite with QH64 signs any data"
    }
  }

  /// ``message``, under the name that Foundation's `LocalizedError` has for it.
  ///
  /// This library does not link Foundation. A program that does declares once
  /// `extension OTPError: @retroactive LocalizedError {}`, and `localizedDescription` is then the message.
  public var errorDescription: String? { message }
}

extension OTPError: RecoverableFailure {
  /// The part of the input that is wrong, where the error names one.
  public var cause: String? { fault?.description ?? part?.description }

  /// How to recover. An input that is refused starts over; so does a code that was not judged.
  public var recovery: Recovery {
    switch code {
    case .counterExhausted: .nonRecoverable(action: "replace the credential: its counter has no next value")
    case .timeOutOfRange: .nonRecoverable(action: "set the clock of this machine")
    default: Self.ofInput.contains(code) ? .startOver : .nonRecoverable(action: message)
    }
  }

  /// The kinds of failure for which another input is the way out.
  private static let ofInput: Set<Code> = [
    .emptyKey, .secretTooShort, .secretTooLong, .invalidBase32, .unknownAlgorithm, .invalidDigits,
    .invalidPeriod,
    .invalidCounter, .invalidCode, .invalidWindow, .invalidReservation, .invalidURI, .invalidSuite,
    .missingInput,
    .unexpectedInput, .invalidInput, .invalidData,
  ]
}

extension OTPError.Code: CustomStringConvertible {
  /// The word of the code.
  public var description: String { rawValue }
}

extension OTPError.URIFault: CustomStringConvertible {
  /// What is wrong, as a clause: "it has no label".
  package var description: String {
    switch self {
    case .tooLong: "it is longer than \(OTPAuthURI.maximumByteCount) bytes"
    case .notOTPAuth: "it does not begin with otpauth://"
    case .unknownType: "its type is none of totp, hotp, steam"
    case .missingLabel: "it has no label"
    case .malformedPercentEncoding: "a % is not followed by two hexadecimal digits"
    case .notUTF8: "a name is not UTF-8"
    case .controlCharacter: "it has a control character"
    case .nameTooLong: "a name is longer than 255 bytes"
    case .fragment: "it has a #"
    case .duplicateParameter: "it has one parameter twice"
    case .unknownParameter(let name?, _): "its parameter '\(name)' is unknown, and could change the codes"
    case .unknownParameter(nil, let count):
      "it has an unknown parameter of \(count) characters, whose name could be a part of the secret"
    case .missingSecret: "it has no secret"
    case .missingCounter: "a hotp URI needs a counter"
    case .unknownEncoder: "its encoder is unknown"
    }
  }
}

extension OCRASuite.Part: CustomStringConvertible {
  /// What a suite may have there, as a clause: "the session is S and three digits from 001 to 512".
  package var description: String {
    switch self {
    case .algorithm: "it begins with OCRA-1"
    case .cryptoFunction: "OCRA-1 is followed by :HOTP"
    case .hash: "the hash is -SHA1, -SHA256 or -SHA512"
    case .digits: "the number of digits is -0 or -4 to -10"
    case .counter: "the counter is C, before the question"
    case .question: "the question is Q, or QA, QN or QH and a length from 04 to 64, after : or :C-"
    case .pinHash: "the hash of the PIN is P, PSHA1, PSHA256 or PSHA512"
    case .session: "the session is S, or S and three digits from 001 to 512"
    case .timeStep: "the time step is T, or T and 1S to 59S, 1M to 59M or 0H to 48H"
    case .order: "only -P, -S and -T follow the question, in this order, each at most once"
    }
  }

  /// What a person calls the value that this part asks for.
  fileprivate var name: String {
    switch self {
    case .counter: "counter"
    case .question: "question"
    case .pinHash: "PIN"
    case .session: "session"
    case .timeStep: "time"
    case .algorithm, .cryptoFunction, .hash, .digits, .order: "value"
    }
  }

  /// What a value that this part asks for may be.
  fileprivate var limit: String {
    switch self {
    case .question: "it is empty, too long, or has other characters"
    case .pinHash: "it is empty, or was hashed by another function"
    case .session: "it is too long"
    case .counter, .timeStep, .algorithm, .cryptoFunction, .hash, .digits, .order: "it is out of range"
    }
  }
}
