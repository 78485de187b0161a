import AuthenticatorKit
import OneTimePassword
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("One-time-password credentials in a vault", .bounded)
struct OTPCredentialTests {
  let rfc4226 = [
    "755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489",
  ]

  @Test("a HOTP credential gives the ten codes of RFC 4226 appendix D in order, and its counter survives")
  func hotp() throws {
    let place = TemporaryVault()
    let id = try add(place.makeCore(), "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0")
    for (counter, code) in rfc4226.enumerated() {
      let result = try place.openCore().nextHOTPCode(of: id)
      expect(result.code, equals: code)
      expect(result.factor, equals: .counter(UInt64(counter)))
    }
    try expect(place.openCore().describeOTP(named: "n").state.counter, equals: 10)
    try expect(place.openCore().verify().problems, equals: [])
  }

  @Test(
    "a TOTP credential gives value, validity and remaining seconds, and stores nothing", .requirement("A15"))
  func totp() throws {
    let place = TemporaryVault()
    let core = try place.makeCore()
    let id = try add(core, "otpauth://totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&digits=8")
    let before = try core.status().sequence
    let at59 = try core.timedCode(of: id, at: 59)
    expect(at59.code, equals: "94287082")
    expect(at59.factor, equals: .time(validFrom: 30, validTo: 60, remaining: 1, isSteam: false))
    #expect(try core.timedCode(of: id, at: 60).code != at59.code)
    try expect(core.status().sequence, equals: before)
  }

  @Test("the counter is on disk before the code: after each code another process goes on after it")
  func commitFirst() throws {
    let place = TemporaryVault()
    let core = try place.makeCore()
    let id = try add(core, "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0")
    let other = try place.openCore()
    for index in 0..<10 {
      try expect((index % 2 == 0 ? core : other).nextHOTPCode(of: id).code, equals: rfc4226[index])
    }
  }

  /// Section 7, offset 24. Verified to fail when it is the time of the last change of the item, and when it never goes back.
  @Test("the time of the last use is the wall clock's, also after the clock was set back")
  func lastUse() throws {
    let rig = try PINRig()
    let pin = try rig.checked()
    let id = try rig.credential(behind: pin)
    for seconds in [1_900_000_000, 1_700_000_500] as [Int64] {
      rig.clock.set(to: Instant(seconds: seconds))
      _ = try rig.core.nextHOTPCode(of: id, context: rig.context("8306"))
      for item in [id, pin] { try expect(rig.core.state(of: item).lastUse.seconds, equals: seconds) }
    }
  }

  /// The secret is opened while the counter goes to the disk. Verified to fail when the commit does not ask how that
  /// ended.
  @Test("a credential whose secret does not open uses no counter, and the vault goes on")
  func damaged() throws {
    let place = TemporaryVault()
    let core = try place.makeCore()
    let uri = "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0"
    let id = try add(core, uri)
    try expect(core.nextHOTPCode(of: id).code, equals: rfc4226[0])
    let before = try core.status().sequence
    try RawSQLite.run(
      "UPDATE material SET secret = CAST("
        + "substr(secret, 1, length(secret) - 1) || iif(substr(secret, -1) = x'00', x'01', x'00') AS BLOB)",
      on: place.path)
    for _ in 0..<3 { expect(.damaged) { () throws(VaultError) in _ = try core.nextHOTPCode(of: id) } }
    try expect(core.describeOTP(named: "n").state.counter, equals: 1)
    try expect(core.status().sequence, equals: before)
    let second = try core.addOTP(OTPAuthURI(parsing: SecretBytes(testing: uri)), named: "m").item.id
    for code in rfc4226 { try expect(core.nextHOTPCode(of: second).code, equals: code) }
  }

  @Test("the last counter is used once, then no more")
  func lastCounter() throws {
    let core = try TemporaryVault().makeCore()
    let id = try add(
      core, "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=18446744073709551615")
    try expect(core.nextHOTPCode(of: id).factor, equals: .counter(.max))
    expect(.expired) { () throws(VaultError) in _ = try core.nextHOTPCode(of: id) }
  }

  @Test("a verifier accepts a code once, also in another process, and never prints one", .requirement("L9"))
  func verifier() throws {
    let place = TemporaryVault(environment: .testing(clock: FixedClock()))
    let core = try place.makeCore()
    let id = try add(
      core, "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0", role: .verifier)
    try expect(core.verifyOTP(of: id, code: "359 152").counter, equals: 2)
    let other = try place.openCore()
    // The code of an earlier counter is no longer compared.
    for (code, error) in [
      ("359152", .alreadyUsed), ("359152", .alreadyUsed), ("287082", .authenticationFailed),
    ] as [(String, VaultError.Code)] {
      expect(error) { () throws(VaultError) in _ = try other.verifyOTP(of: id, code: code) }
    }
    for text in ["35915", "359.152", "٣٥٩١٥٢", ""] {
      expect(.malformed) { () throws(VaultError) in _ = try core.verifyOTP(of: id, code: text) }
    }
    expect(.policy) { () throws(VaultError) in _ = try core.nextHOTPCode(of: id) }
  }

  /// Verified to fail when the error of a wrong code does not say that its delay has begun.
  @Test(
    "wrong codes are counted across openings and cost a growing delay, which the error names",
    .requirement("L9"))
  func throttle() throws {
    let clock = FixedClock()
    let place = TemporaryVault(environment: .testing(clock: clock))
    let id = try add(
      place.makeCore(), "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0", role: .verifier)
    for failures: Int64 in 1...4 {
      let core = try place.openCore()
      let wrong = thrown { () throws(VaultError) in _ = try core.verifyOTP(of: id, code: "000000") }
      #expect(wrong?.code == .authenticationFailed && wrong?.attemptsLeft == 0)
      expect(wrong?.retryAfter, equals: .seconds(failures * 5))
      clock.advance(by: .seconds(failures * 5 - 1))
      let early = thrown { () throws(VaultError) in _ = try core.verifyOTP(of: id, code: "755224") }
      #expect(early?.code == .lockedOut && early?.attemptsLeft == 0 && early?.retryAfter == .seconds(1))
      clock.advance(by: .seconds(1))
    }
    try expect(place.openCore().verifyOTP(of: id, code: "755224").counter, equals: 0)
  }

  @Test("two codes in a row resynchronise a verifier far behind; one does not")
  func resync() throws {
    let core = try TemporaryVault(environment: .testing(clock: FixedClock())).makeCore()
    let uri = "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter="
    let verifier = try add(core, uri + "0", role: .verifier)
    let far = try HOTPGenerator(key: SecretBytes(testing: "12345678901234567890"))
    let accepted = try core.resynchronizeOTP(of: verifier, far.code(at: 500), far.code(at: 501))
    expect(accepted.counter, equals: 501)
    try expect(core.verifyOTP(of: verifier, code: far.code(at: 502)).counter, equals: 502)
  }

  @Test("a copied vault gives no HOTP code before its counter is set")
  func copied() throws {
    let place = TemporaryVault()
    let id = try add(place.makeCore(), "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0")
    _ = try place.openCore().nextHOTPCode(of: id)
    let copy = place.path + ".copy"
    try run("cp", place.path, copy)
    try run("mv", copy, place.path)
    try run("rm", "-f", place.path + "-wal", place.path + "-shm")
    let core = try place.openCore()
    expect(.outOfStep) { () throws(VaultError) in _ = try core.nextHOTPCode(of: id) }
    expect(.policy) { () throws(VaultError) in try core.setCounter(of: id, to: 0) }
    try core.setCounter(of: id, to: 7)
    try expect(core.nextHOTPCode(of: id).code, equals: rfc4226[7])
  }

  @Test("an exported URI gives the same codes in another vault")
  func export() throws {
    let core = try TemporaryVault().makeCore()
    let id = try add(
      core,
      "otpauth://totp/Example:ann?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&algorithm=SHA256&digits=7&period=60"
    )
    let text = try core.exportOTP(of: id)
    let uri = try OTPAuthURI(parsing: text)
    let again = try core.addOTP(uri, named: "again").item.id
    try expect(core.timedCode(of: id, at: 1234).code, equals: core.timedCode(of: again, at: 1234).code)
  }

  /// Verified to fail when the bits are stored of every secret, and when 5 digits are taken for Steam codes.
  @Test("a weak credential is refused, or stored with what is weak, and makes its codes")
  func weak() throws {
    let core = try TemporaryVault().makeCore()
    let short = "otpauth://totp/x?secret=MY3DQZRR"
    let few = "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0&digits=5"
    for (name, text, bits) in [("short", short, 40), ("few", few, nil)] as [(String, String, Int64?)] {
      #expect(throws: OTPError.self) { _ = try OTPAuthURI(parsing: SecretBytes(testing: text)) }
      let uri = try OTPAuthURI(parsing: SecretBytes(testing: text), allowingWeak: true)
      let item = try core.addOTP(uri, named: name).item
      expect(item.attributes[.otpSecretBits], equals: bits)
      let exported = try core.exportOTP(of: item.id)
      let again = try OTPAuthURI(parsing: exported, allowingWeak: true)
      #expect(again.format == uri.format && again.kind == uri.kind)
      let isSame = again.secret.isEqualInConstantTime(to: uri.secret)
      #expect(isSame)
    }
    let counted = try core.item(named: "few").id
    try expect(core.nextHOTPCode(of: counted).code, equals: String(rfc4226[0].suffix(5)))
    let strong = try add(core, "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQ&counter=0")
    #expect(try core.read { try $0.item(strong) }.attributes[.otpSecretBits] == nil)
  }

  @Test("a program enrolls a weak credential only where it allows it")
  func weakByParameters() async throws {
    let core = try TemporaryVault().makeCore()
    let vault = Vault(core: core)
    let text = SecretBytes(testing: "otpauth://totp/x?secret=MY3DQZRR")
    await expect(.malformed) {
      _ = try await OTPCredential.enroll(text, named: "a", in: vault)
    }
    _ = try await OTPCredential.enroll(text, named: "a", in: vault, allowingWeak: true)
    var new = NewOTPCredential(.totp(periodSeconds: 30), name: "b")
    new.digits = 5
    await expect(.malformed) {
      _ = try await OTPCredential.enroll(new, key: SecretBytes(testing: "12345678901234567890"), in: vault)
    }
    new.allowsWeak = true
    _ = try await OTPCredential.enroll(new, key: SecretBytes(testing: "12345678901234567890"), in: vault)
    var signer = NewOCRACredential(try OCRASuite("OCRA-1:HOTP-SHA1-6:Q"), name: "c")
    await expect(.malformed) {
      _ = try await OCRACredential.enroll(signer, key: SecretBytes(testing: "12345"), in: vault)
    }
    signer.allowsWeak = true
    _ = try await OCRACredential.enroll(signer, key: SecretBytes(testing: "12345"), in: vault)
    try expect(core.item(named: "c").attributes[.otpSecretBits], equals: 40)
    #expect(try core.item(named: "b").attributes[.otpSecretBits] == nil)
  }

  private func add(_ core: VaultCore, _ text: String, role: OTPRole = .prover) throws -> ItemID {
    let uri = try OTPAuthURI(parsing: SecretBytes(testing: text))
    return try core.addOTP(uri, named: "n", role: role).item.id
  }
}
