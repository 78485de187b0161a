import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Names show as what they are", .bounded)
struct VisibleTextTests {
  private static let invisible = [
    "\u{200B}", "\u{200D}", "\u{202E}", "\u{2066}", "\u{34F}", "\u{3164}", "\u{115F}", "\u{FE0F}",
    "\u{E0041}",
    "\u{2800}", "\u{FFFC}", "\u{16FE4}", "\u{1D159}", "\u{A0}", "\u{2003}", "\u{3000}", "\u{E000}", "\u{378}",
    "\u{85}", "\u{2028}", "\u{1B}", "  ",
  ]

  /// Verified to fail when default-ignorable characters, or those of `blanks`, are not looked for.
  @Test(
    "a name, service or account with a character that does not show is refused", .requirement("Q14"),
    arguments: invisible)
  func refused(character: String) throws {
    let core = try TemporaryVault().makeCore()
    let bad = "a\(character)b"
    var service = NewItem(.genericPassword, name: "n")
    service.attributes[.service] = bad
    var account = NewItem(.genericPassword, name: "n")
    account.attributes[.account] = bad
    for new in [NewItem(.genericPassword, name: bad), service, account] {
      let error = thrown { () throws(VaultError) in _ = try core.add(new) }
      expect(error?.code, equals: .malformed)
      #expect(error?.message.utf8.allSatisfy { $0 < 0x80 } == true)
    }
    let id = try core.add(NewItem(.genericPassword, name: "n")).id
    var rename = ItemChanges()
    rename.attributes[.name] = bad
    expect(thrown { () throws(VaultError) in _ = try core.update(id, rename) }?.code, equals: .malformed)
    try expect(core.items(matching: Query(id: id)).first?.name, equals: "n")
  }

  /// One accent is a part of its letter in form C of Unicode.
  @Test(
    "spaces at an end and accents on nothing are refused; letters, words and pictures of any script are names",
    arguments: [
      (" a", false), ("a ", false), ("\u{301}a", false),
      ("a" + String(repeating: "\u{301}", count: 6), false),
      ("a" + String(repeating: "\u{301}", count: 5), true),
      ("Grüße aus Köln", true), ("世界", true), ("Tiếng Việt", true), ("e\u{323}\u{302}", true), ("नमस्ते", true),
      ("שָׁלוֹם", true), ("😀", true), ("a\\u{200B}", true),
    ])
  func scripts(name: String, isAllowed: Bool) throws {
    let core = try TemporaryVault().makeCore()
    let error = thrown { () throws(VaultError) in _ = try core.add(NewItem(.genericPassword, name: name)) }
    #expect(error?.code == (isAllowed ? nil : .malformed), "\(name)")
  }

  /// Verified to fail when no name is reserved.
  @Test(
    "a phrase is not called as the login password, a finger or the passcode is", .requirement("Q13"),
    arguments: ["login", "Login", "any", "passcode", "right-index-finger"])
  func reserved(name: String) throws {
    let core = try TemporaryVault(environment: .testing()).makeCore(passcode: "p")
    let error = thrown { () throws(VaultError) in
      _ = try core.enroll(BiometricPhrase(testing: "x"), named: name, passcode: Passcode(testing: "p"))
    }
    expect(error?.code, equals: .policy)
    #expect(try core.enrolledMembers().isEmpty)
  }

  /// Verified to fail when a member's name is not looked at.
  @Test("a member's name shows as what it is too", arguments: invisible)
  func member(character: String) throws {
    let core = try TemporaryVault(environment: .testing()).makeCore(passcode: "p")
    let error = thrown { () throws(VaultError) in
      _ = try core.enroll(
        BiometricPhrase(testing: "x"), named: "right\(character)hand", passcode: Passcode(testing: "p"))
    }
    expect(error?.code, equals: .malformed)
  }

  @Test("a prompt names the members whose phrase is asked for, the tries left and what an empty answer does")
  func request() throws {
    let core = try TemporaryVault(environment: .testing()).makeCore(passcode: "p")
    _ = try core.enroll(
      BiometricPhrase(testing: "x"), named: "right hand", passcode: Passcode(testing: "p"))
    var new = NewItem(.genericPassword, name: "n")
    new.access = try AccessControl([.biometryAny, .or, .devicePasscode])
    let item = try core.add(new, secret: SecretBytes(testing: "s"))
    let prompt = ScriptedPrompt([.text("wrong"), .text(""), .text("wrong"), .text("p")])
    let context = AuthenticationContext(reason: "", prompt: prompt)
    _ = try core.secret(of: item.id, context: context)
    expect(
      prompt.requests.map(\.question), equals: ["phrase of right hand", "phrase of right hand", nil, nil])
    expect(prompt.requests.map(\.triesLeft), equals: [3, 2, 3, 2])
    expect(prompt.requests.map(\.emptyAnswer), equals: ["skips it", "skips it", "cancels", "cancels"])
  }

  /// Verified to fail when the failures of before are not looked at.
  @Test("the tries left are those before the delay where these are fewer", .requirement("Q15"))
  func triesBeforeDelay() throws {
    let core = try TemporaryVault(environment: .testing()).makeCore(passcode: "p")
    var new = NewItem(.genericPassword, name: "n")
    new.access = try AccessControl(.devicePasscode)
    let item = try core.add(new, secret: SecretBytes(testing: "s"))
    for left in [[3, 2, 1], [2, 1]] {
      let prompt = ScriptedPrompt(left.map { _ in .text("wrong") })
      let context = AuthenticationContext(reason: "", prompt: prompt)
      _ = thrown { () throws(VaultError) in _ = try core.secret(of: item.id, context: context) }
      expect(prompt.requests.map(\.triesLeft), equals: left)
    }
  }
}
