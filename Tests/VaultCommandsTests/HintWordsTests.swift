import AuthenticatorKit
import CommandLineKit
import Foundation
import TestSupport
import Testing
import VaultCommands
import VaultKit
import VaultWords

@Suite("The tool's words for hints", .bounded)
struct HintWordsTests {
  /// Every action that the library declares.
  private func actions() throws -> [Hint.Action] {
    let source = try String(
      contentsOf: Tool.repository.appendingPathComponent("Sources/VaultFormat/Errors/Hint+Action.swift"),
      encoding: .utf8)
    return source.matches(of: /= Action\(rawValue: "(\w+)"\)/).map { Hint.Action(rawValue: String($0.1)) }
  }

  // Verified to fail when an entry of HintWords is removed.
  @Test("every action has a sentence of the tool, and no two have the same")
  func everyAction() throws {
    let actions = try actions()
    #expect(actions.count > 40)
    var seen: Set<String> = []
    for action in actions {
      let sentence = HintWords.sentence(for: Hint(action, subject: "SUBJECT", saying: "library"))
      #expect(sentence != "library" && !sentence.isEmpty, "\(action.rawValue)")
      #expect(seen.insert(sentence).inserted, "\(action.rawValue): \(sentence)")
    }
    expect(Set(actions).count, equals: actions.count)
  }

  @Test("a hint without an action, or with one of a later library, keeps its sentence")
  func ownSentence() {
    expect(HintWords.sentence(for: "try again"), equals: "try again")
    let later = Hint(Hint.Action(rawValue: "later"), saying: "wait")
    expect(HintWords.sentence(for: later), equals: "wait")
  }

  /// Verified to fail when the hint names the option alone: `oauth refresh` does not have it.
  @Test("the hint about unbound tokens names the verb that has --dpop")
  func unboundTokens() {
    let sentence = HintWords.sentence(for: Hint(.requestUnboundTokens, saying: "library"))
    #expect(sentence.contains("'vaultctl oauth token' without --dpop"))
  }

  @Test("the subject is in the sentence")
  func subject() {
    let hint = Hint(.closeKeyFile, subject: "/k", saying: "close it")
    #expect(HintWords.sentence(for: hint).hasPrefix("chmod 600 /k; "))
  }

  /// Verified to fail when the sentence stands as it is.
  @Test("the words of a server are shown as such")
  func server() {
    let error = VaultError(peer: "OTHER", "no", hint: "run 'vaultctl init --force'")
    expect(error.hint, equals: "run 'vaultctl init --force'")
    expect(
      CommandError(describing: error).hint, equals: "the server says: run 'vaultctl init --force'")
  }

  @Test("an error of the library says its action in the words of the tool, and its own sentence to programs")
  func error() {
    let error = VaultError(.policy, "no", hint: .setPasscodeFirst)
    #expect(error.hint == "set a passcode first" && error.advice?.action == .setPasscodeFirst)
    expect(CommandError(describing: error).hint, equals: "run 'vaultctl passcode set' first")
  }
}
