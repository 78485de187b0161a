import AuthenticatorKit
import OneTimePassword
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Camouflaged PINs", .bounded)
struct CamouflagedPINTests {
  @Test(
    "the right PIN makes the server's codes; any other makes others, in the same commits and derivations",
    .requirement("B10"))
  func codes() throws {
    let rig = try PINRig()
    let pin = try rig.camouflaged()
    let id = try rig.masked(behind: pin)
    var seen: Set<String> = []
    for (index, digits) in ["8306", "8307", "0000", "1234", "830600", "999999", "83060"].enumerated() {
      rig.derivations.reset()
      let before = try rig.core.status().sequence
      let result = try rig.core.nextHOTPCode(of: id, context: rig.context(digits))
      expect(result.code.utf8.count, equals: 6)
      expect(result.factor, equals: .counter(UInt64(index)))
      expect(rig.derivations.count, equals: 1)
      try expect(rig.core.status().sequence, equals: before + 1)
      // Zeros on the right do not count.
      let isRight = digits.hasPrefix("8306")
      #expect((try rig.code(at: UInt64(index)) == result.code) == isRight)
      seen.insert(result.code)
    }
    expect(seen.count, equals: 7)
    try expect(rig.core.verify().problems, equals: [])
  }

  /// Verified to fail when the state counts one PIN otherwise, and when only one PIN is logged as verified.
  @Test("log and states are the same after a right PIN and after a wrong one", .requirement("B10"))
  func log() throws {
    let rig = try PINRig()
    let pin = try rig.camouflaged()
    let id = try rig.masked(behind: pin)
    let before = [try rig.core.state(of: pin), try rig.core.state(of: id)]
    var entries: [[String]] = []
    var states: [[ItemState]] = []
    for digits in ["8306", "1357"] {
      try rig.core.writing { transaction throws(VaultError) in
        for (item, state) in zip([pin, id], before) { try transaction.changeState(of: item) { $0 = state } }
      }
      let first = try rig.core.auditEntries().last!.sequence + 1
      _ = try rig.core.nextHOTPCode(of: id, context: rig.context(digits))
      entries.append(
        try rig.core.auditEntries(from: first).map { "\($0.operation.name) \($0.result) \($0.detail ?? "")" })
      states.append([try rig.core.state(of: pin), try rig.core.state(of: id)])
    }
    expect(entries[0], equals: entries[1])
    expect(states[0], equals: states[1])
    #expect(!entries[0].isEmpty)
  }

  /// Verified to fail when an export does not ask for the mode of the PIN.
  @Test("what would tell a right PIN from a wrong one, or reveal it, is refused", .requirement("B10"))
  func refused() throws {
    let rig = try PINRig()
    let pin = try rig.camouflaged()
    let id = try rig.masked(behind: pin)
    expect(.policy) { () throws(VaultError) in _ = try rig.core.verifyPIN(pin, context: rig.typing("8306")) }
    expect(.policy) { () throws(VaultError) in _ = try rig.core.exportOTP(of: id, context: rig.typing("8306"))
    }
    expect(.policy) { () throws(VaultError) in
      _ = try rig.core.reserveHOTPCodes(2, of: id, lookAhead: 10, context: rig.typing("8306"))
    }
    for (key, role) in [(Array("12345678901234567890".utf8), OTPRole.prover), (PINRig.rawKey, .verifier)] {
      let uri = try rig.uri(key)
      expect(.policy) { () throws(VaultError) in
        _ = try rig.core.addOTP(uri, named: "second", role: role, pin: pin, context: rig.typing("8306"))
      }
    }
    expect(.policy) { () throws(VaultError) in
      try rig.core.update(
        id, ItemChanges(), secret: SecretBytes(copying: PINRig.rawKey),
        by: Component(.otp, pin: .camouflaged))
    }
  }

  @Test("the PIN of a new credential is typed twice")
  func typedTwice() async throws {
    let rig = try PINRig()
    let vault = Vault(core: rig.core)
    let pin = try await PINItem.make(NewPINItem(.camouflaged), in: vault)
    var new = NewOTPCredential(.hotp(counter: 0), name: "bank")
    new.pin = pin
    let prompt = ScriptedPrompt([.text("8306"), .text("8307")])
    await expect(.malformed) {
      let context = AuthenticationContext(reason: "", prompt: prompt)
      _ = try await OTPCredential.enroll(
        new, key: SecretBytes(copying: PINRig.rawKey), in: vault, context: context)
    }
    let second = ScriptedPrompt([.text("8306"), .text("8306"), .text("8306")])
    let context = AuthenticationContext(reason: "", prompt: second)
    let credential = try await OTPCredential.enroll(
      new, key: SecretBytes(copying: PINRig.rawKey), in: vault, context: context)
    expect(credential.pinMode, equals: .camouflaged)
    try await expect(credential.nextCode(context: context).code, equals: rig.code(at: 0))
    expect(second.requests.map(\.subject), equals: [.pin, .pin, .pin])
  }

  /// Verified to fail when a change masks the secret again under a new salt, and when it is computed from the pending
  /// offset.
  @Test("a change moves an offset alone: codes are made with the new PIN, and the secret keeps its mask")
  func change() throws {
    let rig = try PINRig()
    let pin = try rig.camouflaged()
    let id = try rig.masked(behind: pin)
    let before = try rig.materials([pin, id])
    // A mistyped old PIN, then the right one: nothing accumulates.
    for old in ["8305", "8306"] { try rig.core.changePIN(pin, context: rig.context(old, new: "274951")) }
    #expect(try rig.core.pinStatuses(of: pin).first?.hasPendingChange == true)
    try expect(rig.core.nextHOTPCode(of: id, context: rig.context("274951")).code, equals: rig.code(at: 0))
    #expect(try rig.core.nextHOTPCode(of: id, context: rig.context("8306")).code != rig.code(at: 1))
    try rig.core.undoPINChange(pin)
    try expect(rig.core.nextHOTPCode(of: id, context: rig.context("8306")).code, equals: rig.code(at: 2))
    expect(.policy) { () throws(VaultError) in try rig.core.undoPINChange(pin) }
    try rig.core.changePIN(pin, context: rig.context("8306", new: "5207"))
    try expect(rig.core.nextHOTPCode(of: id, context: rig.context("5207")).code, equals: rig.code(at: 3))
    try rig.core.confirmOTP(of: id)
    #expect(try rig.core.pinStatuses(of: pin).first?.hasPendingChange == false)
    try expect(rig.core.nextHOTPCode(of: id, context: rig.context("5207")).code, equals: rig.code(at: 4))
    try expect(rig.materials([pin, id]), equals: before)
    expect(.pinReused) { () throws(VaultError) in
      try rig.core.changePIN(pin, context: rig.changing("5207", to: "520700"))
    }
  }

  @Test("nothing is masked while a change is pending")
  func pending() throws {
    let rig = try PINRig()
    let pin = try rig.camouflaged()
    let first = try rig.masked(behind: pin)
    try rig.core.changePIN(pin, context: rig.context("8306", new: "5207"))
    _ = try rig.core.nextHOTPCode(of: first, context: rig.context("5207"))
    #expect(throws: VaultError.self) { try rig.masked(behind: pin, named: "second", typing: "5207") }
    try rig.core.confirmPIN(pin)
    let id = try rig.masked(behind: pin, named: "second", typing: "5207")
    try expect(rig.core.nextHOTPCode(of: id, context: rig.context("5207")).code, equals: rig.code(at: 0))
  }

  @Test("from the fifth code since the last confirmation on, the result says so, whatever the PIN")
  func notices() throws {
    let rig = try PINRig()
    let pin = try rig.camouflaged()
    let id = try rig.masked(behind: pin)
    for (number, digits) in ["8306", "1357", "8306", "2468", "9999", "8306"].enumerated() {
      let notices = try rig.core.nextHOTPCode(of: id, context: rig.context(digits)).notices
      #expect(notices == (number < 4 ? [] : [.confirmationDue(codes: number + 1)]))
    }
    try rig.core.confirmOTP(of: id)
    try expect(rig.core.nextHOTPCode(of: id, context: rig.context("8306")).notices, equals: [])
  }

  @Test("a TOTP credential behind it is tried and confirmed as well")
  func timed() throws {
    let rig = try PINRig()
    let pin = try rig.camouflaged()
    let id = try rig.core.addOTP(
      rig.uri(PINRig.rawKey, kind: .totp(periodSeconds: 30)), named: "timed", pin: pin,
      context: rig.context("8306")
    ).item.id
    let right = try rig.core.timedCode(of: id, context: rig.context("8306")).code
    let step = UInt64(rig.clock.now().seconds / 30)
    #expect(right == (try rig.code(at: step)))
    #expect(try rig.core.timedCode(of: id, context: rig.context("8307")).code != right)
    try expect(rig.core.pinStatuses(of: pin).first?.codesSinceConfirmation, equals: 2)
    try rig.core.confirmOTP(of: id)
    try expect(rig.core.pinStatuses(of: pin).first?.codesSinceConfirmation, equals: 0)
  }

  @Test("the counter goes back by force without a PIN, which nothing could judge")
  func setCounter() throws {
    let rig = try PINRig()
    let id = try rig.masked(behind: rig.camouflaged())
    for _ in 0..<2 { _ = try rig.core.nextHOTPCode(of: id, context: rig.context("1357")) }
    try rig.core.setCounter(of: id, to: 0, force: true)
    try expect(rig.core.nextHOTPCode(of: id, context: rig.context("8306")).code, equals: rig.code(at: 0))
  }
}

extension PINRig {
  /// How often the secrets of items were sealed.
  func materials(_ ids: [ItemID]) throws -> [UInt64] {
    try core.reading { transaction throws(VaultError) in
      var versions: [UInt64] = []
      for id in ids { versions.append(try transaction.materialVersion(of: id)) }
      return versions
    }
  }

  func changing(_ old: String, to new: String) -> AuthenticationContext {
    guard let context = try? context(old, new: new) else { preconditionFailure("PINRig.changing: no PIN") }
    return context
  }
}
