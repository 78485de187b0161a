import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// FL5: one secret, or one name, in two Unicode forms.
@Suite("Forms of what is typed", .bounded)
struct TypedFormTests {
  private static let composed = "caf\u{E9} passcode"
  private static let decomposed = "cafe\u{301} passcode"

  /// Verified to fail when `Passcode` keeps the bytes as they are given.
  @Test("a passcode opens in each form, whichever it was set in", arguments: [true, false])
  func passcode(setComposed: Bool) throws {
    let place = TemporaryVault()
    let (set, typed) = setComposed ? (Self.composed, Self.decomposed) : (Self.decomposed, Self.composed)
    _ = try place.makeCore(passcode: set)
    for text in [typed, set] { try place.openCore().unlock(with: Passcode(testing: text)) }
    let core = try place.openCore()
    try core.unlock(with: Passcode(testing: typed))
    try core.changePasscode(from: Passcode(testing: typed), to: Passcode(testing: "e\u{301}"))
    try place.openCore().unlock(with: Passcode(testing: "\u{E9}"))
  }

  /// Verified to fail when the second form is counted by a second attempt.
  @Test("two forms of a wrong passcode are one attempt")
  func oneAttempt() throws {
    let place = TemporaryVault()
    _ = try place.makeCore(passcode: "right")
    let core = try place.openCore()
    var left: [Int?] = []
    for wrong in ["plain", Self.decomposed, Self.decomposed] {
      do throws(VaultError) { try core.unlock(with: Passcode(testing: wrong)) } catch {
        left.append(error.attemptsLeft)
      }
    }
    expect(left, equals: [4, 3, 2])
    try core.unlock(with: Passcode(testing: "right"))
    try expect(core.verify().problems, equals: [])
  }

  @Test("a passcode that no keyboard gives is malformed, and no attempt")
  func malformed() throws {
    let place = TemporaryVault()
    _ = try place.makeCore(passcode: "right")
    for text in ["right\n", "right ", " right", "ri\u{1B}ght", "right\r\n"] {
      expect(.malformed) { () throws(VaultError) in _ = try Passcode(testing: text) }
    }
  }

  /// Verified to fail when the backup's passphrase is derived as it is given.
  @Test("a passphrase and a phrase open in each form")
  func others() throws {
    let place = TemporaryVault()
    let core = try place.makeCore(passcode: "p")
    let path = place.folder + "/backup"
    _ = try core.backUp(to: path, passphrase: Passcode(testing: Self.decomposed))
    for form in [Self.composed, Self.decomposed] {
      let other = TemporaryVault()
      _ = try VaultCore.restore(
        from: path, passphrase: Passcode(testing: form), to: other.path, protector: other.protector,
        environment: place.environment)
    }
    _ = try core.enroll(
      BiometricPhrase(testing: Self.decomposed), named: "me\u{301}", passcode: Passcode(testing: "p"))
    try expect(core.enrolledMembers().map { Array($0.name.utf8) }, equals: [Array("m\u{E9}".utf8)])
    let item = try core.add(
      NewItem(.genericPassword, name: "n", access: AccessControl(.biometryAny)),
      secret: SecretBytes(testing: "s"))
    for form in [Self.composed, Self.decomposed] {
      let context = AuthenticationContext(reason: "", interaction: .notAllowed)
      context.provide(try BiometricPhrase(testing: form))
      try expect(core.secret(of: item.id, context: context).byteCount, equals: 1)
    }
  }

  /// Verified to fail when `add`, `update`, or the query does not normalize.
  @Test("a name is one name in each form")
  func names() throws {
    let core = try TemporaryVault().makeCore()
    let item = try core.add(NewItem(.genericPassword, name: "cafe\u{301}"), secret: SecretBytes(testing: "s"))
    expect(item.name.map { Array($0.utf8) }, equals: Array("caf\u{E9}".utf8))
    for form in ["caf\u{E9}", "cafe\u{301}"] {
      try expect(core.item(named: form).id, equals: item.id)
      expect(.duplicateItem) { () throws(VaultError) in
        _ = try core.add(NewItem(.genericPassword, name: form))
      }
      var account = Attributes()
      account[.account] = form
      try expect(core.items(matching: Query(where: account)).map(\.id), equals: [item.id])
    }
    var label = Attributes()
    label[.label] = "e\u{301}"
    _ = try core.update(item.id, ItemChanges(attributes: label))
    try expect(core.item(named: "caf\u{E9}").attributes[.label].map { Array($0.utf8) }, equals: [0xC3, 0xA9])
    try expect(core.verify().problems, equals: [])
  }
}
