import AuthenticatorKit
import OneTimePassword
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Changes of checked PINs", .bounded)
struct PINChangeTests {
  /// Verified to fail when the change writes each credential in a commit of its own.
  @Test(
    "after a change all credentials go on under the new PIN, in one commit, and the old PIN is wrong",
    .requirement("A10", "B2"), arguments: [1, 30])
  func change(accounts: Int) throws {
    let rig = try PINRig()
    let pin = try rig.checked()
    let ids = try (0..<accounts).map { try rig.credential(behind: pin, named: "account \($0)") }
    try expect(
      rig.core.nextHOTPCode(of: ids[0], context: rig.context("8306")).code, equals: PINRig.rfc4226[0])
    let before = try rig.core.status().sequence
    rig.derivations.reset()
    try rig.core.changePIN(pin, context: rig.context("8306", new: "5207"))
    // One derivation to judge, one for the new PIN. The attempt, its verdict, the change, the cleaning after it.
    expect(rig.derivations.count, equals: 2)
    try expect(rig.core.status().sequence, equals: before + 4)
    try expect(
      rig.core.nextHOTPCode(of: ids[0], context: rig.context("5207")).code, equals: PINRig.rfc4226[1])
    for id in ids.dropFirst() {
      try expect(rig.core.nextHOTPCode(of: id, context: rig.context("5207")).code, equals: PINRig.rfc4226[0])
    }
    let error = thrown { () throws(VaultError) in
      _ = try rig.core.nextHOTPCode(of: ids[0], context: rig.typing("8306"))
    }
    expect(error?.code, equals: .authenticationFailed)
    expect(error?.attemptsLeft, equals: 9)
  }

  /// Verified to fail when the two PINs are not compared.
  @Test("the new PIN is not the old one, and is typed twice", .requirement("A4"))
  func reused() async throws {
    let rig = try PINRig()
    let pin = try rig.checked()
    expect(.pinReused) { () throws(VaultError) in
      try rig.core.changePIN(pin, context: rig.changing("8306", to: "8306"))
    }
    let item = try await PINItem(id: pin, in: Vault(core: rig.core))
    let prompt = ScriptedPrompt([.text("8306"), .text("5207"), .text("5208")])
    await expect(.malformed) {
      try await item.change(context: AuthenticationContext(reason: "", prompt: prompt))
    }
    expect(prompt.requests.map(\.subject), equals: [.pin, .newPIN, .newPIN])
    _ = try await item.verify(context: rig.context("8306"))
    // A person may type another one.
    let second = ScriptedPrompt([
      .text("8306"), .text("8306"), .text("8306"), .text("1234"), .text("1234"), .text("5207"), .text("5207"),
    ])
    try await item.change(context: AuthenticationContext(reason: "", prompt: second))
    _ = try await item.verify(context: rig.context("5207"))
  }

  @Test("a wrong old PIN is an attempt, and changes nothing")
  func wrongOld() throws {
    let rig = try PINRig()
    let pin = try rig.checked(limit: 5)
    for _ in 0..<5 {
      expect(.authenticationFailed) { () throws(VaultError) in
        try rig.core.changePIN(pin, context: rig.changing("8307", to: "5207"))
      }
    }
    expect(.blocked) { () throws(VaultError) in
      try rig.core.changePIN(pin, context: rig.changing("8306", to: "5207"))
    }
  }

  /// Verified to fail when the change deletes no biokey.
  @Test("a change deletes the biokeys of the PIN and no others, unless they are to stay", .requirement("A10"))
  func biokeys() throws {
    let rig = try PINRig()
    let pin = try rig.checked()
    let other = try rig.core.makePIN(NewPINItem(.camouflaged)).id
    for (name, owner) in [("mine", pin), ("other's", other)] {
      var new = NewItem(.biokey, name: name)
      new.attributes[.pinItem] = owner.bytes
      _ = try rig.core.add(new, secret: SecretBytes(testing: "-"), by: Component(.biokey))
    }
    try expect(rig.core.pinStatuses(of: pin).first?.factors, equals: [.current, .biometric])
    try rig.core.changePIN(pin, keepingBiokeys: true, context: rig.context("8306", new: "5207"))
    try expect(rig.core.items(matching: Query(.biokey)).map(\.name), equals: ["mine", "other's"])
    try rig.core.changePIN(pin, context: rig.context("5207", new: "8306"))
    try expect(rig.core.items(matching: Query(.biokey)).map(\.name), equals: ["other's"])
    #expect(try rig.core.pinStatuses(of: pin).first?.hasBiokey == false)
  }

  /// Verified to fail when the version of the data is not compared before the change.
  @Test("of two that change one PIN, the second is told")
  func race() throws {
    let rig = try PINRig()
    let pin = try rig.checked()
    let place = rig.place
    rig.derivations.reset { count in
      guard count == 2, let other = try? place.openCore() else { return }
      try? other.changePIN(pin, context: rig.changing("8306", to: "9415"))
    }
    expect(.busy) { () throws(VaultError) in
      try rig.core.changePIN(pin, context: rig.changing("8306", to: "5207"))
    }
    _ = try rig.core.verifyPIN(pin, context: rig.context("9415"))
  }

  /// Verified to fail when the verdict does not compare the version of the data.
  @Test("a PIN that is changed between its derivation and its verdict makes no code")
  func changedMeanwhile() throws {
    let rig = try PINRig()
    let pin = try rig.checked()
    let id = try rig.credential(behind: pin)
    let place = rig.place
    rig.derivations.reset { count in
      guard count == 1, let other = try? place.openCore() else { return }
      try? other.changePIN(pin, context: rig.changing("8306", to: "9415"))
    }
    expect(.busy) { () throws(VaultError) in
      _ = try rig.core.nextHOTPCode(of: id, context: rig.typing("8306"))
    }
    try expect(rig.counter(of: id), equals: 0)
  }

  @Test("undo and confirm are for camouflaged PINs")
  func checkedOnly() throws {
    let rig = try PINRig()
    let pin = try rig.checked()
    expect(.policy) { () throws(VaultError) in try rig.core.undoPINChange(pin) }
    expect(.policy) { () throws(VaultError) in try rig.core.confirmPIN(pin) }
  }
}
