import AuthenticatorKit
import CommandLineKit
import Foundation
import TestSupport
import Testing
import VaultCommands
import VaultKit
import VaultWords

@Suite("Hints of the library at the command line", .bounded)
struct HintCommandTests {
  // Verified to fail when a hint names 'vaultctl otp activation finish'.
  @Test("every command that a hint names is one")
  func commands() throws {
    let sources = Tool.repository.appendingPathComponent("Sources")
    let files = try FileManager.default.subpathsOfDirectory(atPath: sources.path)
      .filter { $0.hasSuffix(".swift") }
    var count = 0
    for file in files {
      let text = try String(contentsOf: sources.appendingPathComponent(file), encoding: .utf8)
      for line in text.split(separator: "\n") where line.contains("tool: \"") {
        for command in line.matches(of: /'vaultctl ([a-z][a-z-]*)(?: ([a-z-]+))?(?: ([a-z-]+))?/) {
          let words = [command.1, command.2 ?? "", command.3 ?? ""].map(String.init).filter { !$0.isEmpty }
          let isVerb = (1...words.count).contains { VerbTable.verb(Array(words.prefix($0))) != nil }
          #expect(isVerb, "\(file): \(command.0)")
          count += 1
        }
      }
    }
    #expect(count > 60)
  }

  /// Verified to fail when the hint names the option alone: `oauth refresh` does not have it.
  @Test("the hint about unbound tokens names the verb that has --dpop")
  func unboundTokens() {
    #expect(Hint.requestUnboundTokens.toolSentence.contains("'vaultctl oauth token' without --dpop"))
  }

  /// Verified to fail when the sentence stands as it is.
  @Test("the words of a server are shown as such")
  func server() {
    let error = VaultError(peer: "OTHER", "no", hint: "run 'vaultctl init --force'")
    expect(error.hint, equals: "run 'vaultctl init --force'")
    expect(
      CommandError(describing: error).hint, equals: "the server says: run 'vaultctl init --force'")
  }

  @Test("an error of the library has the commands of the tool in its hint")
  func error() {
    let error = VaultError(.policy, "no", hint: .setPasscodeFirst)
    expect(CommandError(describing: error).hint, equals: "run 'vaultctl passcode set' first")
  }
}
