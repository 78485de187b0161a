import AuthenticatorKit
import OneTimePassword
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Activation of a credential", .bounded)
struct ActivationTests {
  /// Verified to fail when the start adds an active credential.
  @Test("start and finish are two steps, and only the second one makes codes", .requirement("A1"))
  func twoSteps() throws {
    let scene = try ActivationScene()
    try scene.start()
    try expect(scene.state(), equals: .started)
    let pending = try scene.core.item(named: "bank")
    expect(.wrongState) { () throws(VaultError) in _ = try scene.core.nextHOTPCode(of: pending.id) }
    expect(.wrongState) { () throws(VaultError) in _ = try scene.core.timedCode(of: pending.id) }
    expect(.wrongState) { () throws(VaultError) in _ = try scene.core.exportOTP(of: pending.id) }
    expect(.wrongState) { () throws(VaultError) in try scene.describe() }
    #expect(try scene.core.listOTP(where: Attributes()).isEmpty)
    // As after a process that was killed: another one opens the file.
    let core = try scene.rig.place.openCore()
    try expect(core.credentialStatus(named: "bank").state, equals: .started)
    try expect(core.credentialStatus(named: "bank").secondsLeft, equals: 300)
    let done = try scene.finish()
    #expect(done.type == "hotp" && done.deviceCredential == nil)
    try expect(scene.state(), equals: .active)
    try expect(scene.core.nextHOTPCode(of: done.credential).code, equals: scene.rig.code(at: 0))
    try expect(core.verify().problems, equals: [])
    // A second end of it, with the same code.
    expect(.authenticationFailed) { () throws(VaultError) in try scene.finish() }
    try expect(scene.state(), equals: .active)
    expect(scene.server.operations, equals: [.activationStart, .activationFinish])
  }

  /// Verified to fail when a code is sent as it was typed, and when every code loses its dashes.
  @Test(
    "a code of digits is sent without what groups them, and every other one as it was typed",
    .requirement("A1"))
  func groupedCodes() throws {
    for (typed, sent) in [
      ("471 199", "471199"), ("\u{FF14}71\u{2011}199\u{200E}", "471199"), ("AB-12 C", "AB-12 C"),
      ("4711-99x", "4711-99x"),
    ] {
      let scene = try ActivationScene(mode: 9)
      let pin = try scene.rig.checked(limit: 5)
      scene.server.change {
        for operation in [TransportOperation.activationStart, .activationFinish, .unlockFinish] {
          $0.codes[operation] = sent
        }
      }
      try scene.start(code: typed)
      let id = try scene.finish(code: typed, pin: pin, scene.rig.context("8306")).credential
      try scene.block(id)
      try scene.core.startUnlock(of: id, over: scene.server)
      try scene.finishUnlock(id, code: typed, scene.rig.context("8306"))
      try expect(scene.state(), equals: .active)
    }
  }

  @Test("the requests and the credential are what the guide says", .requirement("A1"))
  func members() throws {
    let scene = try ActivationScene()
    scene.server.change {
      $0.start = ["account": .text("anna"), "issuer": .text("Bank"), "lifeSeconds": .number(20)]
      $0.credential = ActivationServer.credential(
        "totp", ["digits": .number(8), "periodSeconds": .number(60)])
      $0.finish = ["offlineCodes": .number(5), "unixTime": .number(1_700_000_007)]
    }
    var new = NewActivation("bank")
    (new.service, new.account) = ("pay", "a")
    _ = try scene.core.startActivation(
      new, code: SharedSecret(SecretBytes(testing: "first")), over: scene.server)
    let status = try scene.core.credentialStatus(named: "bank")
    #expect((status.service, status.account, status.issuer) == ("pay", "anna", "Bank"))
    #expect((status.secondsLeft, status.factors, status.transport) == (20, [], "/opt/peer"))
    let id = try scene.finish().credential
    let requests = scene.server.requests
    expect(requests[0].fields.all.map(\.name), equals: ["device", "codeBase64", "service", "account"])
    expect(requests[1].fields.all.map(\.name), equals: ["device", "peer", "secretBase64", "codeBase64"])
    let device = try #require(requests[0].fields["device"].map { "\($0)" })
    expect(requests[1].fields["device"].map { "\($0)" }, equals: device)
    expect(requests[1].text(of: "secretBase64"), equals: String(repeating: "Z", count: 32))
    let credential = try scene.core.describeOTP(of: id)
    #expect(
      (credential.kind, credential.digits, credential.period, credential.role) == (.totp, 8, 60, .prover))
    expect(credential.state.secondsOffset, equals: 7)
    expect(credential.item.attributes[Attribute<Int64>(code: 78)], equals: 5)
    expect(credential.state.lastSynchronization, equals: Instant(seconds: 1_700_000_000))
  }

  /// A secret under two identifiers would be masked twice, and the frames of a commit that failed may be on the disk.
  ///
  /// Verified to fail when the identifier is chosen in the last step.
  @Test("the identifier of the credential is there from the start", .requirement("R24"), arguments: [0, 1])
  func sameIdentifier(mode: UInt64) throws {
    let scene = try ActivationScene(mode: mode)
    let pin = mode == 0 ? nil : try scene.rig.camouflaged()
    try scene.start()
    let chosen = try scene.core.items(.name("bank"))[0].attributes.bytes(of: 95)
    scene.server.change { $0.before = { _ throws(VaultError) in throw VaultError(.network, "cut") } }
    expect(.network) { () throws(VaultError) in try scene.finish(pin: pin, scene.rig.context("8306")) }
    scene.server.change { $0.before = nil }
    let id = try scene.finish(pin: pin, scene.rig.context("8306")).credential
    #expect(chosen == id.bytes)
    #expect(try scene.core.items(.id(id))[0].attributes.bytes(of: 95) == nil)
  }

  /// Verified to fail when the deadline is a wall time, when an activation of an earlier boot is accepted, and when the
  /// activation is only marked as over.
  @Test(
    "after its deadline an activation is refused and wiped", .requirement("A2"), arguments: [true, false])
  func deadline(isReboot: Bool) throws {
    let scene = try ActivationScene()
    try scene.start()
    let files = VaultFiles(place: scene.rig.place)
    let sealed = try files.lastSealedSecret()
    #expect(sealed.count > 32)
    #expect(try files.contain(sealed))
    scene.rig.clock.advance(by: .seconds(299))
    scene.rig.clock.set(to: Instant(seconds: 1_600_000_000))
    try expect(scene.core.credentialStatus(named: "bank").secondsLeft, equals: 1)
    if isReboot { scene.rig.clock.reboot() } else { scene.rig.clock.advance(by: .seconds(2)) }
    expect(.expired) { () throws(VaultError) in try scene.finish() }
    expect(scene.server.operations, equals: [.activationStart])
    #expect(try !files.contain(sealed))
    expect(.itemNotFound) { () throws(VaultError) in _ = try scene.state() }
    #expect(try scene.core.auditEntries().contains { $0.operation == .activationEnded })
    try scene.start()
    try expect(scene.state(), equals: .started)
  }

  /// Verified to fail when a refused code leaves the activation, and when one that came too late for the server does.
  @Test(
    "a wrong or late second code ends the activation and wipes it, any other error leaves it",
    .requirement("A2"), arguments: [true, false])
  func wrongCode(isLate: Bool) throws {
    let scene = try ActivationScene()
    try scene.start()
    let files = VaultFiles(place: scene.rig.place)
    let sealed = try files.lastSealedSecret()
    #expect(try files.contain(sealed))
    for word in ["BLOCKED", "STATE", "NETWORK", "FORBIDDEN", "OTHER"] {
      scene.server.change { $0.before = { _ throws(VaultError) in throw VaultError(peer: word, "no") } }
      #expect(throws: VaultError.self) { try scene.finish() }
      try expect(scene.state(), equals: .started)
    }
    scene.server.change { $0.before = nil }
    if isLate {
      scene.server.change {
        $0.before = { _ throws(VaultError) in throw VaultError(peer: "TIMEOUT", "too late") }
      }
    }
    let error = thrown { () throws(VaultError) in try scene.finish(code: "wrong") }
    #expect(error?.code == (isLate ? .expired : .authenticationFailed))
    #expect(error?.message.hasSuffix("; the activation was deleted") == true && error?.advice != nil)
    #expect(try !files.contain(sealed))
    expect(.itemNotFound) { () throws(VaultError) in try scene.finish() }
  }

  /// Verified to fail when the commit of the credential expects the activation to be there.
  @Test("of two ends of one activation the accepted one stores the credential, whoever is first")
  func twoTerminals() throws {
    let scene = try ActivationScene()
    try scene.start()
    let other = ActivationServer()
    // While the first one waits for its answer, another process is told that the code was used.
    scene.server.change {
      $0.before = { request throws(VaultError) in
        guard request.operation == .activationFinish else { return }
        let core = try scene.rig.place.openCore()
        expect(.authenticationFailed) { () throws(VaultError) in
          _ = try core.finishActivation(
            named: "bank", code: SharedSecret(SecretBytes(testing: "used")), over: other)
        }
      }
    }
    try scene.finish()
    try expect(scene.state(), equals: .active)
  }

  /// Verified to fail when the device credential is behind the PIN, and when it has the secret of the other.
  @Test(
    "the device credential has a secret of its own, needs no PIN, and stays on this device",
    .requirement("B1"))
  func device() throws {
    let scene = try ActivationScene(mode: 1)
    let own = [UInt8](repeating: 0xA7, count: 20)
    scene.server.change { $0.device = ActivationServer.credential(key: own, ["counter": .number(4)]) }
    try scene.start()
    let pin = try scene.rig.checked()
    let done = try scene.finish(pin: pin, scene.rig.context("8306"))
    let device = try #require(done.deviceCredential)
    let item = try scene.core.item(named: "bank-device")
    #expect(item.id == device && item.access.thisDeviceOnly && !item.isBehindPIN)
    #expect(item.attributes[Attribute<String>(code: 76)] == nil, "its server is asked about the other one")
    try expect(scene.core.credentialStatus(named: "bank").deviceCredential, equals: device)
    let expected = try HOTPGenerator(key: SecretBytes(copying: own)).code(at: 4)
    try expect(scene.core.nextHOTPCode(of: device).code, equals: expected)
    expect(.interactionNotAllowed) { () throws(VaultError) in
      _ = try scene.core.nextHOTPCode(of: done.credential, context: AuthenticationContext(reason: ""))
    }
    try expect(scene.code(of: done.credential), equals: scene.rig.code(at: 0))
  }

  @Test("a suite is activated too")
  func suite() async throws {
    let scene = try ActivationScene()
    scene.server.change {
      $0.credential = ActivationServer.credential(
        "ocra", ["suite": .text("OCRA-1:HOTP-SHA1-6:C-QN08"), "counter": .number(9)])
    }
    try scene.start()
    let done = try scene.finish()
    expect(done.type, equals: "ocra")
    let credential = try await OCRACredential(id: done.credential, in: Vault(core: scene.core))
    let result = try await credential.sign(OCRARequest(OCRAQuestion("12345678", for: credential.suite)))
    expect(result.counter, equals: 9)
  }

  /// Verified to fail when `Q` or `S` alone is no part of a suite.
  @Test("a suite with the defaults of RFC 6287 is activated, and is stored and hashed as the server wrote it")
  func suiteWithDefaults() async throws {
    for (text, question, session) in [
      ("C-Q", "12345678", [UInt8]?.none), ("C-QH10-S-T", "0123456789", [1, 2]),
    ] {
      let scene = try ActivationScene()
      let suite = "OCRA-1:HOTP-SHA1-6:\(text)"
      scene.server.change {
        $0.credential = ActivationServer.credential("ocra", ["suite": .text(suite)])
      }
      try scene.start()
      let done = try scene.finish()
      let credential = try await OCRACredential(id: done.credential, in: Vault(core: scene.core))
      expect(credential.suite.description, equals: suite)
      var request = OCRARequest(try OCRAQuestion(question, for: credential.suite))
      request.session = session
      let made = try await credential.sign(request)
      var input = OCRADataInput(question: request.question, counter: 0, session: session)
      input.timeStep = made.validity.map { UInt64($0.lowerBound / 60) }
      let generator = try OCRAGenerator(key: SecretBytes(copying: PINRig.rawKey), suite: OCRASuite(suite))
      try expect(generator.code(for: input), equals: made.code)
    }
  }

  /// Verified to fail when the old secret is deleted at the start.
  @Test(
    "a new activation ends the state disabled, and replaces the credential at its end", .requirement("A1"))
  func disabled() throws {
    let scene = try ActivationScene(mode: 1)
    scene.server.change { $0.device = ActivationServer.credential(key: [UInt8](repeating: 1, count: 20)) }
    try scene.start()
    let pin = try scene.rig.checked()
    let old = try scene.finish(pin: pin, scene.rig.context("8306"))
    expect(.duplicateItem) { () throws(VaultError) in try scene.start() }
    try scene.core.disableCredential(old.credential, over: scene.server)
    #expect(try scene.state() == .disabled && scene.state("bank-device") == .disabled)
    scene.rig.derivations.reset()
    expect(.wrongState) { () throws(VaultError) in
      _ = try scene.core.nextHOTPCode(of: old.credential, context: scene.rig.typing("8306"))
    }
    expect(scene.rig.derivations.count, equals: 0)
    try scene.start()
    #expect(try scene.core.credentialStatus(named: "bank").isBeingReplaced)
    try expect(scene.core.item(named: "bank").id, equals: old.credential)
    // By its own name it replaces the same credential.
    let new = try scene.finish("bank-activation", pin: pin, scene.rig.context("8306"))
    #expect(new.credential != old.credential && new.deviceCredential != old.deviceCredential)
    #expect(try scene.state() == .active && scene.code(of: new.credential) == scene.rig.code(at: 0))
    try expect(scene.core.items(matching: Query(.otp)).count, equals: 2)
  }

  /// Verified to fail when the time of a replacement is not looked at.
  @Test(
    "an activation that replaces a credential says how long it waits, and ends in time", .requirement("A2"))
  func replacementDeadline() throws {
    let scene = try ActivationScene()
    try scene.start()
    try scene.core.disableCredential(scene.finish().credential, over: scene.server)
    #expect(try scene.core.credentialStatus(named: "bank").secondsLeft == nil)
    expect(.wrongState) { () throws(VaultError) in try scene.finish() }
    try scene.start()
    let files = VaultFiles(place: scene.rig.place)
    let sealed = try files.lastSealedSecret()
    #expect(try files.contain(sealed))
    try expect(scene.core.credentialStatus(named: "bank").secondsLeft, equals: 300)
    scene.rig.clock.advance(by: .seconds(301))
    expect(.expired) { () throws(VaultError) in _ = try scene.state() }
    #expect(try !files.contain(sealed))
    #expect(try !scene.core.credentialStatus(named: "bank").isBeingReplaced)
  }

  /// Verified to fail when a request about a device credential is sent.
  @Test("the server is asked about a credential, not about its device credential")
  func deviceIsNotAsked() throws {
    let scene = try ActivationScene()
    scene.server.change { $0.device = ActivationServer.credential(key: [UInt8](repeating: 1, count: 20)) }
    try scene.start()
    let device = try #require(try scene.finish().deviceCredential)
    expect(.policy) { () throws(VaultError) in try scene.core.disableCredential(device, over: scene.server) }
    expect(.policy) { () throws(VaultError) in _ = try scene.core.synchronize(device, over: scene.server) }
    expect(.policy) { () throws(VaultError) in _ = try scene.core.onlineCode(of: device, over: scene.server) }
    expect(scene.server.operations, equals: [.activationStart, .activationFinish])
    try expect(scene.state("bank-device"), equals: .active)
  }

  @Test("the server is asked first, and a refusal leaves the credential as it was")
  func notDisabled() throws {
    let scene = try ActivationScene()
    try scene.start()
    expect(.wrongState) { () throws(VaultError) in
      try scene.core.disableCredential(scene.core.item(named: "bank").id, over: scene.server)
    }
    let id = try scene.finish().credential
    scene.server.change { $0.before = { _ throws(VaultError) in throw VaultError(peer: "FORBIDDEN", "no") } }
    expect(.policy) { () throws(VaultError) in try scene.core.disableCredential(id, over: scene.server) }
    try expect(scene.state(), equals: .active)
  }

  @Test("the actor offers the same, cancellable")
  func actor() async throws {
    let scene = try ActivationScene(mode: 1)
    let vault = Vault(core: scene.core)
    let activation = try await Activation.start(
      NewActivation("bank"), code: SecretBytes(testing: "first"), over: scene.server, in: vault)
    try await expect(activation.status().state, equals: .started)
    let pin = try await PINItem.make(
      NewPINItem(.checked), in: vault, context: scene.rig.context(new: "8306"))
    let done = try await activation.finish(
      code: SecretBytes(testing: "second"), pin: pin, over: scene.server,
      context: scene.rig.context("8306"))
    let credential = try await OTPCredential(id: done.credential, in: vault)
    try await expect(
      credential.nextCode(context: scene.rig.context("8306")).code, equals: scene.rig.code(at: 0))
    try await CredentialStatus.disable(done.credential, over: scene.server, in: vault)
    try await expect(CredentialStatus.of(done.credential, in: vault).state, equals: .disabled)
  }
}
