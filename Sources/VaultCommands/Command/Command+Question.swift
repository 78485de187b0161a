import AuthenticatorKit
import CommandLineKit
import OneTimePassword
import SecretMemory
import TextPreparation
import VaultKit
import VaultWords

/// The options of a question, and what `transaction sign` and `transaction verify` make of them.
enum QuestionOptions {
  static let question = Setting(
    "question", .text, "Q", "The challenge itself. Without it, standard input has the data that is signed.")
  static let ownQuestion = Setting(
    "own-question", .text, "Q", "With mutual authentication, the challenge of the side that makes the code.")
  static let session = Setting("session", .text, "S", "The session information, for a suite with S.")
  static let sessionFormat = Setting(
    "session-format", .choice(["text": SessionFormat.text, "hex": .hexadecimal]), "",
    "How --session is written.", defaultValue: "text")
  /// For a verb that makes the code.
  static let at = Setting("at", .moment, "T", "The code of this moment, for a suite with T; else of now.")
  static let all: [any OptionKey] = [question, ownQuestion, session, sessionFormat]

  static let notes = [
    "--question takes up to as many characters as the suite says: A letters and digits, N decimal digits, H hexadecimal "
      + "digits. Blanks and dashes between digits do not matter.",
    "Data goes into the code as it is where the suite takes exactly that: for N as many digits as the suite says, for A up "
      + "to so many ASCII letters and digits. A suite with QH64 always takes the SHA-256 of the data. Other data is "
      + "refused (9). A newline at the end is a part of the data.",
    "Other options are given exactly where the suite names their value: --session for S, --suite-pin-file or --suite-pin-fd for P. "
      + "--pin-file and --pin-fd give the PIN that guards the credential, which is another one.",
  ]

  enum SessionFormat {
    case text
    case hexadecimal
  }
}

extension Command {
  /// The credential with a suite that the command is about.
  func signer() throws -> OCRADescription {
    let item = try credential()
    return try vault.opened().describeOCRA(of: item.id)
  }

  /// What a code of the credential is asked for, and the data or the challenge that is signed, as a person who is asked
  /// sees it.
  ///
  /// - Parameter isGuarded: The flags of the credential ask for a person before it is used.
  /// - Throws: Exit 9 if a person may be asked, and the data does not show as what it is.
  func request(
    for signer: OCRADescription, to purpose: String, isGuarded: Bool
  ) throws -> (request: OCRARequest, text: ShownText?) {
    let suite = signer.suite
    let isBehindPIN = signer.item.isBehindPIN
    try refuseUnneededOptions(of: suite, isBehindPIN: isBehindPIN)
    let data = has(QuestionOptions.question) ? nil : SharedSecret(try secrets.data("data", to: purpose))
    let question = try question(for: suite, of: data)
    let asksPIN = isBehindPIN && secrets.willAsk(.pin) || suite.pinHash != nil && secrets.willAsk(.suitePIN)
    let isAsked = invocation.mayPrompt && (isGuarded || asksPIN)
    let text = isAsked ? try shownText(of: data) : nil
    guard suite.pinHash != nil else { return (try adding(to: OCRARequest(question), suite: suite), text) }
    let pin = try secrets.secret(.suitePIN, to: purpose, showing: text)
    return (try adding(to: OCRARequest(question, pin: pin), suite: suite), text)
  }

  /// The data that is signed; without data the challenges, each on a line.
  private func shownText(of data: SharedSecret?) throws(VaultError) -> ShownText {
    if let data { return try data.expose { (data) throws(VaultError) in try ShownText(data) } }
    let challenges = [self[QuestionOptions.ownQuestion], self[QuestionOptions.question]]
    return try ShownText(challenges.compactMap { $0 }.joined(separator: "\n"))
  }

  private func adding(to request: OCRARequest, suite: OCRASuite) throws(CommandError) -> OCRARequest {
    var request = request
    if let text = self[QuestionOptions.session] {
      request.session = try bytes(ofSession: text)
    } else if suite.sessionByteCount != nil {
      throw .usage("the suite needs --session")
    }
    return request
  }

  private func bytes(ofSession text: String) throws(CommandError) -> [UInt8] {
    guard self[QuestionOptions.sessionFormat] == .hexadecimal else { return Array(text.utf8) }
    let digits = Array(text)
    let bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap { index in
      digits[index].isHexDigit && digits[index + 1].isHexDigit
        ? UInt8(String(digits[index...index + 1]), radix: 16) : nil
    }
    guard 2 * bytes.count == digits.count else {
      throw .malformed("--session is not hexadecimal", hint: "give pairs of the digits 0-9 and a-f")
    }
    return bytes
  }

  /// The challenge of the options, or the question of the data.
  private func question(for suite: OCRASuite, of data: SharedSecret?) throws(CommandError) -> OCRAQuestion {
    do throws(OTPError) {
      if let question = try challenge(QuestionOptions.question, of: suite) {
        guard let own = try challenge(QuestionOptions.ownQuestion, of: suite) else { return question }
        return try OCRAChallenges(client: own, server: question).clientQuestion
      }
      guard let data else { preconditionFailure("Command.question(for:of:): neither challenge nor data") }
      return try data.expose { (data) throws(OTPError) in try OCRAQuestion(data: data, for: suite) }
    } catch { throw CommandError(VaultError(otp: error)) }
  }

  /// A challenge that a person reads on a screen and types: of digits, blanks and dashes between them do not matter.
  private func challenge(
    _ option: Setting<String>, of suite: OCRASuite
  ) throws(OTPError) -> OCRAQuestion? {
    guard let text = self[option] else { return nil }
    let isGrouped = suite.questionFormat != .alphanumeric
    return try OCRAQuestion(isGrouped ? TypedCode.characters(of: text) : text, for: suite)
  }

  /// An option for a value that is no part of the code would make a person believe that the value is signed.
  private func refuseUnneededOptions(of suite: OCRASuite, isBehindPIN: Bool) throws(CommandError) {
    if has(QuestionOptions.ownQuestion), !has(QuestionOptions.question) {
      throw .usage("--own-question needs --question")
    }
    let needed: [(isNamed: Bool, options: [any OptionKey], flaw: String)] = [
      (
        suite.sessionByteCount != nil, [QuestionOptions.session, QuestionOptions.sessionFormat],
        "the suite has no session"
      ),
      (suite.pinHash != nil, SecretChannel.suitePIN.options.options, "the suite has no PIN"),
      (isBehindPIN, SecretChannel.pin.options.options, "no PIN guards the credential"),
      (suite.timeStepSeconds != nil, [QuestionOptions.at], "the suite has no time"),
    ]
    for (isNamed, options, flaw) in needed where !isNamed {
      if let option = options.first(where: has) { throw .usage("\(option.shown): \(flaw)") }
    }
  }
}
