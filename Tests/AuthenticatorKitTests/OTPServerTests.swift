import AuthenticatorKit
import OneTimePassword
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("One-time passwords of a server", .bounded, .requirement("L10"))
struct OTPServerTests {
  private let clock = FixedClock()
  private let place: TemporaryVault
  private let key = "12345678901234567890"

  init() { place = TemporaryVault(environment: .testing(clock: clock)) }

  private func verifier(_ name: String) -> NewOTPCredential {
    var new = NewOTPCredential(.totp(periodSeconds: 30), name: name, role: .verifier)
    new.issuer = "example.org"
    new.account = name + "@example.org"
    return new
  }

  @Test("a credential from parameters is the one that its URI would make")
  func parameters() async throws {
    let vault = try place.make()
    var new = NewOTPCredential(.hotp(counter: 5), name: "a")
    (new.algorithm, new.digits, new.issuer, new.account, new.window) = (.sha256, 8, "Example", "anna", 20)
    let made = try await OTPCredential.enroll(new, key: SecretBytes(testing: key), in: vault)
    let uri =
      "otpauth://hotp/Example:anna?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&algorithm=SHA256&digits=8&counter=5"
    let parsed = try await OTPCredential.enroll(
      SecretBytes(testing: uri), window: 20, named: "b", in: vault)
    let (first, second) = (try await made.describe(), try await parsed.describe())
    expect(first.item.attributes.codes, equals: second.item.attributes.codes)
    #expect(first.kind == second.kind && first.role == second.role && first.digits == second.digits)
    #expect(first.algorithm == second.algorithm && first.window == second.window)
    #expect(first.item.attributes[.issuer] == "Example" && first.item.attributes[.account] == "anna")
    try await expect(made.nextCode().code, equals: parsed.nextCode().code)
  }

  @Test("parameters that no code has are refused, and nothing is added")
  func malformed() async throws {
    let vault = try place.make()
    var eleven = NewOTPCredential(.totp(periodSeconds: 30), name: "n")
    eleven.digits = 11
    var steam = NewOTPCredential(.steam, name: "n")
    steam.algorithm = .sha512
    var long = NewOTPCredential(.totp(periodSeconds: 30), name: "n")
    long.issuer = String(repeating: "x", count: 256)
    let all = [
      eleven, steam, long, NewOTPCredential(.totp(periodSeconds: 0), name: "n"),
      NewOTPCredential(.steam, name: ""),
    ]
    for new in all {
      await expect(
        .malformed,
        awaiting: { _ = try await OTPCredential.enroll(new, key: SecretBytes(testing: key), in: vault) })
    }
    #expect(try await vault.items(matching: Query()).isEmpty)
  }

  /// Verified to fail when the error is worded for a URI.
  @Test(
    "an error about a parameter speaks of the parameter, not of a URI that was copied",
    arguments: [0, 9, 513])
  func keys(byteCount: Int) async throws {
    let vault = try place.make()
    let user = verifier("n")
    let error = await thrown { () async throws(VaultError) in
      let key = SecretBytes(testing: String(repeating: "k", count: byteCount))
      _ = try await OTPCredential.enroll(user, key: key, in: vault)
    }
    #expect(error?.code == .malformed && error?.hint == "give a key of 10 to 512 bytes; 20 are recommended")
    var long = user
    long.account = String(repeating: "x", count: 256)
    let named = await thrown { [long, key] () async throws(VaultError) in
      _ = try await OTPCredential.enroll(long, key: SecretBytes(testing: key), in: vault)
    }
    expect(
      named?.message,
      equals: "the issuer or the account cannot be part of a URI: a name is longer than 255 bytes")
    #expect(named?.hint == nil)
    #expect(try await vault.items(matching: Query()).isEmpty)
  }

  // Verified to fail when only the verification compares the window with the greatest one.
  @Test("a window with which no code could be judged is refused at the enrollment")
  func windows() async throws {
    let vault = try place.make()
    let kinds: [(OTPAuthURI.Kind, UInt64)] = [(.hotp(counter: 0), 10_000), (.totp(periodSeconds: 30), 5_000)]
    for (kind, greatest) in kinds {
      var new = NewOTPCredential(kind, name: "n \(greatest)", role: .verifier)
      for window in [greatest + 1, .max] {
        new.window = window
        await expect(
          .malformed,
          awaiting: { _ = try await OTPCredential.enroll(new, key: SecretBytes(testing: key), in: vault) })
      }
      new.window = greatest
      let credential = try await OTPCredential.enroll(new, key: SecretBytes(testing: key), in: vault)
      await expect(.authenticationFailed, awaiting: { _ = try await credential.verify("000000") })
    }
  }

  @Test(
    "many are enrolled in one transaction or none, and are found by identifier, by account and in the list")
  func many() async throws {
    let vault = try place.make()
    let users = (0..<300).map { verifier("user-\($0)") }
    let key = key
    let ids = try await vault.write { transaction throws(VaultError) in
      var ids: [ItemID] = []
      for user in users { ids.append(try transaction.enroll(user, key: SecretBytes(testing: key)).id) }
      return ids
    }
    _ = try await vault.add(NewItem(.genericPassword, name: "password"))
    let listed = try await OTPCredential.list(in: vault)
    #expect(listed.map(\.item.id) == ids && listed.allSatisfy { $0.role == .verifier && $0.digits == 6 })
    var attributes = Attributes()
    attributes[.account] = "user-17@example.org"
    try await expect(OTPCredential.list(in: vault, where: attributes).map(\.item.id), equals: [ids[17]])
    let credential = try await OTPCredential(id: ids[17], in: vault)
    let code = try TOTPGenerator(key: SecretBytes(testing: key)).code(at: clock.now().seconds).code
    _ = try await credential.verify(code)
    #expect(try await credential.describe().state.lastAccepted != nil)
    await expect(
      .duplicateItem,
      awaiting: {
        _ = try await vault.write { transaction throws(VaultError) in
          try transaction.enroll(users[0], key: SecretBytes(testing: key)).id
        }
      })
    try await expect(vault.verify().problems, equals: [])
  }

  @Test("an identifier of another kind of item, or of none, is not a credential")
  func identifiers() async throws {
    let vault = try place.make()
    let other = try await vault.add(NewItem(.genericPassword, name: "password")).id
    for id in [other, ItemID.zero] {
      await expect(.itemNotFound, awaiting: { _ = try await OTPCredential(id: id, in: vault) })
    }
  }

  @Test("a list asks nobody, also where credentials have constraints and the vault is locked")
  func listing() async throws {
    let vault = try place.make(passcode: "1234")
    var new = NewOTPCredential(.hotp(counter: 3), name: "n")
    new.access = try AccessControl(.devicePasscode)
    _ = try await OTPCredential.enroll(new, key: SecretBytes(testing: key), in: vault)
    vault.lock()
    try await expect(OTPCredential.list(in: vault).map(\.state.counter), equals: [3])
  }
}

/// Verified to fail when the last counter of the block is written instead of the one after it, and when the window of
/// the credential does not limit the block.
@Suite("Reserved codes", .bounded, .requirement("L10"))
struct ReservedCodesTests {
  private let place = TemporaryVault()
  private let codes = [
    "755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489",
  ]

  private func makeProver(in vault: Vault, counter: UInt64 = 0) async throws -> OTPCredential {
    try await OTPCredential.enroll(
      NewOTPCredential(.hotp(counter: counter), name: "n"), key: SecretBytes(testing: "12345678901234567890"),
      in: vault)
  }

  @Test("a block gives its codes once, without a write, and other processes go on after it")
  func block() async throws {
    let vault = try place.make()
    let credential = try await makeProver(in: vault)
    var block = try await credential.reserve(4)
    let sequence = try await vault.status().sequence
    let other = try await OTPCredential.named("n", in: try place.open())
    try await expect(other.nextCode().code, equals: codes[4])
    var given: [String] = []
    while let result = block.next() {
      #expect(result.factor == .counter(UInt64(given.count)) && result.digits == 6 && result.name == "n")
      given.append(result.code)
    }
    #expect(given == Array(codes[0..<4]) && block.remaining == 0)
    try await expect(vault.status().sequence, equals: sequence + 1)
    try await expect(credential.nextCode().code, equals: codes[5])
    let details = try await vault.auditEntries().filter { $0.operation == .codeGenerated }.map(\.detail)
    expect(details, equals: ["counters 0 to 3", nil, nil])
  }

  @Test("codes that are not taken are a gap, never given again")
  func gap() async throws {
    let vault = try place.make()
    let credential = try await makeProver(in: vault)
    var block = try await credential.reserve(3)
    expect(block.next()?.code, equals: codes[0])
    _ = consume block
    try await expect(credential.nextCode().code, equals: codes[3])
  }

  @Test("a block is smaller than half of what the server looks ahead, and ends before the counter does")
  func limits() async throws {
    let vault = try place.make()
    let credential = try await makeProver(in: vault)
    for count in [0, 5, 6, .max] as [UInt64] {
      await expect(.malformed, awaiting: { _ = try await credential.reserve(count) })
    }
    await expect(.malformed, awaiting: { _ = try await credential.reserve(1, lookAhead: 10_001) })
    try await expect(credential.reserve(40, lookAhead: 100).remaining, equals: 40)
    try await credential.setCounter(to: .max - 1)
    await expect(.expired, awaiting: { _ = try await credential.reserve(2) })
    try await expect(credential.nextCode().factor, equals: .counter(.max - 1))
  }

  @Test("a verifier, a credential by time and a counter that needs a resynchronization reserve nothing")
  func refused() async throws {
    let vault = try place.make()
    for (name, kind, role) in [
      ("a", .hotp(counter: 0), .verifier), ("b", .totp(periodSeconds: 30), .prover),
    ] as [(String, OTPAuthURI.Kind, OTPRole)] {
      let credential = try await OTPCredential.enroll(
        NewOTPCredential(kind, name: name, role: role), key: SecretBytes(testing: "12345678901234567890"),
        in: vault
      )
      await expect(.policy, awaiting: { _ = try await credential.reserve(1) })
      await expect(.policy, awaiting: { try await credential.confirm() })
    }
    let core = try place.openCore()
    let credential = try await makeProver(in: vault)
    try core.writing { transaction throws(VaultError) in
      try transaction.changeState(of: credential.id) { $0.needsResync = true }
    }
    await expect(.outOfStep, awaiting: { _ = try await credential.reserve(1) })
  }

  @Test("codes are counted until the server confirms one")
  func confirmation() async throws {
    let credential = try await makeProver(in: place.make())
    _ = try await credential.nextCode()
    _ = try await credential.reserve(4)
    try await expect(credential.describe().state.unconfirmed, equals: 5)
    try await credential.confirm()
    let state = try await credential.describe().state
    #expect(state.unconfirmed == 0 && state.counter == 5)
    _ = try await credential.nextCode()
    try await expect(credential.describe().state.unconfirmed, equals: 1)
  }

  // Verified to fail when the confirmation takes no context.
  @Test("a confirmation of a credential with constraints asks the person, and counts nothing without one")
  func constrained() async throws {
    let vault = try place.make(passcode: "1234")
    var new = NewOTPCredential(.hotp(counter: 0), name: "n")
    new.access = try AccessControl(.devicePasscode)
    let credential = try await OTPCredential.enroll(
      new, key: SecretBytes(testing: "12345678901234567890"), in: vault)
    func person() -> AuthenticationContext {
      AuthenticationContext(reason: "test", prompt: ScriptedPrompt([.text("1234")]))
    }
    _ = try await credential.nextCode(context: person())
    await expect(.interactionNotAllowed, awaiting: { try await credential.confirm() })
    try await expect(credential.describe().state.unconfirmed, equals: 1)
    try await credential.confirm(context: person())
    try await expect(credential.describe().state.unconfirmed, equals: 0)
  }
}
