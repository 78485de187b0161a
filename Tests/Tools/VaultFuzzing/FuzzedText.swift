import AuthenticatorKit
import CommandLineKit
import SecretMemory
import VaultCommands
import VaultKit

/// A reader that gets any text of others, and what must hold then. `scripts/fuzz` calls it as long as is wanted, with texts that find
/// new ways through the reader (`Tests/Fuzz`); the tests call it with the texts that have found one (`Tests/Vectors/fuzz`).
package enum FuzzedText: String, CaseIterable, Sendable {
  /// A URI of a one-time password.
  case otpauth
  /// The suite of an OCRA credential.
  case ocraSuite = "ocra-suite"
  /// The answer of a token endpoint.
  case tokenAnswer = "token-answer"
  /// The lines of an import.
  case jsonLines = "json-lines"

  /// What is wrong; `nil` if all holds.
  package func fault(of input: [UInt8]) -> String? {
    switch self {
    case .otpauth: Self.faultOfURI(input, allowingWeak: false) ?? Self.faultOfURI(input, allowingWeak: true)
    case .ocraSuite: Self.faultOfSuite(String(decoding: input, as: UTF8.self))
    case .tokenAnswer: Self.faultOfAnswer(input, isProved: false) ?? Self.faultOfAnswer(input, isProved: true)
    case .jsonLines: Self.faultOfLines(input)
    }
  }

  // MARK: Token answers

  /// Tokens are taken or refused, and then for good; and what nothing depends on changes neither.
  private static func faultOfAnswer(_ input: [UInt8], isProved: Bool) -> String? {
    let answer = answer(input, isProved: isProved)
    if let fault = fault(in: answer) { return fault }
    let other = self.answer(adding(#""\n":[{"a":1,"a":"\ud800"}],"#, to: input), isProved: isProved)
    return isSame(answer, other) ? nil : "a member that nothing depends on decides"
  }

  private static func answer(_ input: [UInt8], isProved: Bool) -> Result<TokenAnswer, VaultError> {
    Result { () throws(VaultError) in try TokenAnswer(body: SecretBytes(copying: input), isProved: isProved) }
  }

  private static func fault(in answer: Result<TokenAnswer, VaultError>) -> String? {
    switch answer {
    case .failure(let error):
      guard error.code == .network || error.code == .policy else { return "\(error)" }
      guard error.recovery.condition == nil else { return "to be sent again: \(error.message)" }
      return error.message.utf8.allSatisfy { 0x20...0x7E ~= $0 } ? nil : "a message of the server"
    case .success(let answer):
      guard answer.access.isVisibleASCII, 1...65_536 ~= answer.access.byteCount else { return "access token" }
      guard answer.refresh.map({ $0.byteCount > 0 }) ?? true else { return "refresh token" }
      guard answer.lifeSeconds.map({ $0 <= UInt64(UInt32.max) }) ?? true else { return "life" }
      guard answer.scope.map({ $0.utf8.count <= 4096 && VisibleText.flaw(in: $0) == nil }) ?? true else {
        return "scope"
      }
      return nil
    }
  }

  private static func isSame(
    _ one: Result<TokenAnswer, VaultError>, _ other: Result<TokenAnswer, VaultError>
  ) -> Bool {
    switch (one, other) {
    case (.success(let one), .success(let other)):
      one.access.isSame(as: other.access)
        && (one.refresh?.isSame(as: other.refresh) ?? (other.refresh == nil))
        && one.scope == other.scope && one.lifeSeconds == other.lifeSeconds
    case (.failure(let one), .failure(let other)): one.code == other.code
    default: false
    }
  }

  /// The text with a member at the beginning of its object, where it has one.
  private static func adding(_ member: String, to input: [UInt8]) -> [UInt8] {
    guard let place = input.firstIndex(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }),
      input[place] == UInt8(ascii: "{"),
      let next = input[(place + 1)...].first(where: { $0 > 0x20 }), next == UInt8(ascii: "\"")
    else { return input }
    return Array(input[...place]) + Array(member.utf8) + Array(input[(place + 1)...])
  }

  // MARK: Lines of an import

  /// Each line is read or refused with its number; the reader moves on, and ends.
  private static func faultOfLines(_ input: [UInt8]) -> String? {
    let reader = ItemLineReader(SecretBytes(copying: input))
    let most = input.count { $0 == UInt8(ascii: "\n") } + 1
    var last = 0
    for _ in 0...2 * most {
      let number = reader.line
      do throws(CommandError) {
        guard let line = try reader.next() else { return nil }
        guard line.number >= number, line.number > last, line.number <= most else {
          return "line \(line.number)"
        }
        guard 1...255 ~= line.name.utf8.count, line.secret.byteCount > 0 else { return "name or secret" }
        last = line.number
      } catch {
        guard error.exit == .malformed else { return "exit \(error.exit.rawValue)" }
        do throws(CommandError) { try reader.skipLine() } catch { return "skipping" }
      }
    }
    return "no end"
  }
}
