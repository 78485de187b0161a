import OneTimePassword

/// A generator with the key of the RFCs, and one question.
struct OCRAScene: ~Copyable {
  let generator: OCRAGenerator

  init(_ data: String, function: String = "SHA1-0") throws {
    generator = try OCRAGenerator(key: rfcKey(), suite: OCRASuite("OCRA-1:HOTP-\(function):\(data)"))
  }

  func input() throws -> OCRADataInput {
    OCRADataInput(question: try OCRAQuestion("12345678", for: generator.suite))
  }

  func code(counter: UInt64) throws -> OCRACode {
    var input = try input()
    input.counter = counter
    return try OCRACode(generator.code(for: input), for: generator.suite)
  }

  func code(session: [UInt8]) throws -> String {
    var input = try input()
    input.session = session
    return try generator.code(for: input)
  }

  func code(pin: String, _ algorithm: OTPAlgorithm) throws -> String {
    var input = try input()
    input.pinHash = try OCRADataInput.pinHash(of: pin, algorithm)
    return try generator.code(for: input)
  }
}
