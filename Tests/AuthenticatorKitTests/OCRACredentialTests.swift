import AuthenticatorKit
import OneTimePassword
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Credentials with a suite in a vault", .bounded, .requirement("A16"))
struct OCRACredentialTests {
  private static let key = "12345678901234567890"

  private func suite(_ data: String) throws -> OCRASuite { try OCRASuite("OCRA-1:HOTP-SHA1-6:\(data)") }

  @discardableResult
  private func add(
    _ core: VaultCore, _ data: String, role: OTPRole = .prover,
    _ adjust: (inout NewOCRACredential) -> Void = { _ in }
  ) throws -> OCRADescription {
    var new = try NewOCRACredential(suite(data), name: role == .prover ? "signer" : "gate", role: role)
    adjust(&new)
    return try core.addOCRA(new, key: SecretBytes(testing: Self.key))
  }

  private func request(_ signer: OCRADescription, _ question: String = "00000000") throws -> OCRARequest {
    OCRARequest(try OCRAQuestion(question, for: signer.suite))
  }

  /// The code for a question, by the module OneTimePassword alone.
  private func code(_ signer: OCRADescription, _ question: String = "00000000", counter: UInt64? = nil) throws
    -> String
  {
    let input = OCRADataInput(question: try OCRAQuestion(question, for: signer.suite), counter: counter)
    return try OCRAGenerator(key: SecretBytes(testing: Self.key), suite: signer.suite).code(for: input)
  }

  /// Verified to fail when the counter is read and not moved.
  @Test("a counter signs once: it is on disk before its code, in every process")
  func signedOnce() throws {
    let place = TemporaryVault()
    let signer = try add(place.makeCore(), "C-QN08")
    let cores = try [place.openCore(), place.openCore()]
    for counter: UInt64 in 0..<6 {
      let result = try cores[Int(counter) % 2].signOCRA(request(signer), with: signer.item.id)
      #expect(result.counter == counter && result.validity == nil && result.name == "signer")
      try expect(result.code, equals: code(signer, counter: counter))
    }
    try expect(place.openCore().describeOCRA(named: "signer").state.counter, equals: 6)
    try expect(place.openCore().verify().problems, equals: [])
  }

  @Test("a request that does not fit uses no counter and stores nothing")
  func refusedRequests() throws {
    let core = try TemporaryVault().makeCore()
    let signer = try add(core, "C-QN08")
    let before = try core.status().sequence
    let longer = OCRARequest(try OCRAQuestion("123456789", for: suite("QN09")))
    let withPIN = OCRARequest(try OCRAQuestion("1234", for: signer.suite), pin: SecretBytes(testing: "1234"))
    var (withSession, withTime) = (try request(signer), try request(signer))
    (withSession.session, withTime.unixTime) = ([1], 1)
    for wrong in [longer, withPIN, withSession, withTime] {
      expect(.malformed) { () throws(VaultError) in _ = try core.signOCRA(wrong, with: signer.item.id) }
    }
    try expect(core.status().sequence, equals: before)
    try expect(core.signOCRA(request(signer), with: signer.item.id).counter, equals: 0)
  }

  @Test("the counters 0 and 2^64 - 1 sign, and nothing comes after the last")
  func ends() throws {
    let core = try TemporaryVault().makeCore()
    let signer = try add(core, "C-QN08") { $0.counter = .max }
    try expect(core.signOCRA(request(signer), with: signer.item.id).code, equals: code(signer, counter: .max))
    expect(.expired) { () throws(VaultError) in
      _ = try core.signOCRA(OCRARequest(OCRAQuestion(testing: "0", signer.suite)), with: signer.item.id)
    }
  }

  @Test("without a counter nothing is stored, and a code has the seconds of its time step")
  func uncounted() throws {
    let core = try TemporaryVault().makeCore()
    let signer = try add(core, "QN08-T1M")
    let before = try core.status().sequence
    var request = try request(signer)
    request.unixTime = 59
    let first = try core.signOCRA(request, with: signer.item.id)
    #expect(first.validity == 0..<60 && first.counter == nil)
    request.unixTime = 60
    #expect(try core.signOCRA(request, with: signer.item.id).code != first.code)
    try expect(core.status().sequence, equals: before)
  }

  /// Verified to fail when the verifier's counter, last code and delay are not stored.
  @Test(
    "altered data is refused in the whole window; unaltered data is accepted once", .requirement("B7"),
    arguments: [0, 9, 10])
  func alteredData(ahead: UInt64) throws {
    let core = try TemporaryVault(environment: .testing(clock: FixedClock())).makeCore()
    let (signer, gate) = (
      try add(core, "C-QH64") { $0.counter = ahead }, try add(core, "C-QH64", role: .verifier)
    )
    func request(_ text: String) throws -> OCRARequest {
      OCRARequest(try OCRAQuestion(data: Array(text.utf8).span, for: signer.suite))
    }
    let code = try core.signOCRA(request("Pay 12 EUR to Anna"), with: signer.item.id).code
    func verdict(_ text: String) throws -> VaultError.Code? {
      let request = try request(text)
      return thrown { () throws(VaultError) in _ = try core.verifyOCRA(code, for: request, with: gate.item.id)
      }?.code
    }
    try expect(
      core.verifyOCRA(code, for: request("Pay 12 EUR to Anna"), with: gate.item.id).counter, equals: ahead)
    try expect(verdict("Pay 12 EUR to Anna"), equals: .alreadyUsed)
    try expect(verdict("Pay 12 EUR to Anne"), equals: .authenticationFailed)
    try expect(verdict("Pay 12 EUR to Anna"), equals: .lockedOut)
  }

  @Test("a verifier counts wrong codes across openings, and delays")
  func throttle() throws {
    let clock = FixedClock()
    let place = TemporaryVault(environment: .testing(clock: clock))
    let gate = try add(place.makeCore(), "C-QN08", role: .verifier)
    let request = try request(gate)
    for failures: Int64 in 1...3 {
      let core = try place.openCore()
      let wrong = thrown { () throws(VaultError) in
        _ = try core.verifyOCRA("000000", for: request, with: gate.item.id)
      }
      #expect(wrong?.code == .authenticationFailed && wrong?.retryAfter == .seconds(failures * 5))
      clock.advance(by: .seconds(failures * 5))
    }
    try expect(
      place.openCore().verifyOCRA(code(gate, counter: 4), for: request, with: gate.item.id).counter, equals: 4
    )
    for text in ["", "00000", "0000000", "00000a", "٠٠٠٠٠٠"] {
      expect(.malformed) { () throws(VaultError) in
        _ = try place.openCore().verifyOCRA(text, for: request, with: gate.item.id)
      }
    }
  }

  @Test("each side refuses the work of the other, and a credential without a suite signs nothing")
  func roles() throws {
    let core = try TemporaryVault().makeCore()
    let (signer, gate) = (try add(core, "C-QN08"), try add(core, "C-QN08", role: .verifier))
    let request = try request(signer)
    let plain = try core.addOTP(
      OTPAuthURI(kind: .hotp(counter: 0), account: "x", secret: SecretBytes(testing: Self.key)),
      named: "plain")
    for id in [gate.item.id, plain.item.id] {
      expect(.policy) { () throws(VaultError) in _ = try core.signOCRA(request, with: id) }
    }
    for id in [signer.item.id, plain.item.id] {
      expect(.policy) { () throws(VaultError) in _ = try core.verifyOCRA("000000", for: request, with: id) }
    }
    expect(.policy) { () throws(VaultError) in _ = try core.nextHOTPCode(of: signer.item.id) }
    expect(.policy) { () throws(VaultError) in _ = try core.timedCode(of: signer.item.id) }
    expect(.policy) { () throws(VaultError) in _ = try core.verifyOTP(of: gate.item.id, code: "000000") }
    expect(.policy) { () throws(VaultError) in _ = try core.exportOTP(of: signer.item.id) }
    try expect(core.listOTP(where: Attributes()).map(\.item.name), equals: ["plain"])
    try expect(core.listOCRA().map(\.item.name), equals: ["signer", "gate"])
  }

  /// Verified to fail when only HOTP credentials are marked.
  @Test("a copied vault signs with no counter before it is set; suites without one go on")
  func copied() throws {
    let place = TemporaryVault()
    let signer = try add(place.makeCore(), "C-QN08")
    let other = try add(place.openCore(), "QN08") { $0.name = "uncounted" }
    _ = try place.openCore().signOCRA(request(signer), with: signer.item.id)
    try run("cp", place.path, place.path + ".copy")
    try run("mv", place.path + ".copy", place.path)
    try run("rm", "-f", place.path + "-wal", place.path + "-shm")
    let copy = try place.openCore()
    expect(.outOfStep) { () throws(VaultError) in
      _ = try copy.signOCRA(OCRARequest(OCRAQuestion(testing: "0", signer.suite)), with: signer.item.id)
    }
    try expect(copy.signOCRA(request(other), with: other.item.id).code, equals: "237653")
    expect(.policy) { () throws(VaultError) in try copy.setCounter(of: signer.item.id, to: 0) }
    expect(.policy) { () throws(VaultError) in try copy.setCounter(of: other.item.id, to: 9) }
    try copy.setCounter(of: signer.item.id, to: 7)
    try expect(copy.signOCRA(request(signer), with: signer.item.id).counter, equals: 7)
  }

  @Test("what no code can be made with is not enrolled: T0H, a window, a key", arguments: [9, 10, 512, 513])
  func enrolled(keyLength: Int) throws {
    let core = try TemporaryVault().makeCore()
    let before = try core.status().sequence
    let new = NewOCRACredential(try suite("QN08"), name: "x")
    let key = SecretBytes(copying: [UInt8](repeating: 7, count: keyLength))
    let error = thrown { () throws(VaultError) in _ = try core.addOCRA(new, key: key) }
    #expect(error?.code == ((10...512).contains(keyLength) ? nil : .malformed))
    if error != nil {
      var window = new
      window.window = 1001
      for wrong in [window, NewOCRACredential(try suite("QN08-T0H"), name: "x")] {
        expect(.malformed) { () throws(VaultError) in
          _ = try core.addOCRA(wrong, key: SecretBytes(testing: Self.key))
        }
      }
      try expect(core.status().sequence, equals: before)
    }
  }
}

@Suite("Credentials with a suite by the public calls", .bounded, .requirement("A16"))
struct OCRAActorTests {
  private let key = "12345678901234567890"

  @Test("server and client prove to each other that they know the key (RFC 6287 §7.2)")
  func mutual() async throws {
    let (client, server) = (try TemporaryVault().make(), try TemporaryVault().make())
    let (clients, servers) = (
      try OCRASuite("OCRA-1:HOTP-SHA256-8:QA08-PSHA1"), try OCRASuite("OCRA-1:HOTP-SHA512-8:QA08")
    )
    func enroll(_ suite: OCRASuite, _ name: String, _ role: OTPRole, _ vault: Vault) async throws
      -> OCRACredential
    {
      try await OCRACredential.enroll(
        NewOCRACredential(suite, name: name, role: role), key: SecretBytes(testing: key), in: vault)
    }
    let answers = try await enroll(clients, "client", .prover, client)
    let proof = try await enroll(servers, "server", .verifier, client)
    let serverAnswers = try await enroll(servers, "server", .prover, server)
    let clientProof = try await enroll(clients, "client", .verifier, server)
    let challenges = try OCRAChallenges(
      client: OCRAQuestion("CLI22220", for: clients), server: OCRAQuestion("SRV11110", for: servers))
    let first = try await serverAnswers.sign(OCRARequest(challenges.serverQuestion)).code
    try await proof.verify(first, for: OCRARequest(challenges.serverQuestion))
    let pin = { OCRARequest(challenges.clientQuestion, pin: SecretBytes(testing: $0)) }
    let second = try await answers.sign(pin("1234")).code
    try await clientProof.verify(second, for: pin("1234"))
    await #expect(throws: VaultError.self) { try await clientProof.verify(second, for: pin("1235")) }
  }

  @Test("a credential is found by name, by item and in a list, and eight tasks sign with each counter once")
  func found() async throws {
    let vault = try TemporaryVault().make()
    let suite = try OCRASuite("OCRA-1:HOTP-SHA1-6:C-QN08")
    let item = try await vault.write { transaction in
      try transaction.enroll(
        NewOCRACredential(suite, name: "bank"), key: SecretBytes(testing: "12345678901234567890"))
    }
    let credential = try await OCRACredential.named("bank", in: vault)
    #expect(credential.id == item.id && credential.suite == suite && credential.role == .prover)
    try await expect(OCRACredential(id: item.id, in: vault).describe().window, equals: 10)
    try await expect(OCRACredential.list(in: vault).map(\.item.id), equals: [item.id])
    let request = OCRARequest(try OCRAQuestion("1234", for: suite))
    let counters = try await withThrowingTaskGroup(of: UInt64?.self) { group in
      for _ in 0..<40 { group.addTask { try await credential.sign(request).counter } }
      return try await group.reduce(into: [UInt64?]()) { $0.append($1) }
    }
    expect(counters.compactMap(\.self).sorted(), equals: Array(0..<40))
    try await credential.setCounter(to: 100)
    try await expect(credential.sign(request).counter, equals: 100)
  }
}

extension OCRAQuestion {
  /// A question whose characters fit.
  fileprivate init(testing text: String, _ suite: OCRASuite) throws(VaultError) {
    do throws(OTPError) { self = try OCRAQuestion(text, for: suite) } catch { throw VaultError(otp: error) }
  }
}
