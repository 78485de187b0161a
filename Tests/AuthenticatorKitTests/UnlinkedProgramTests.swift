import AuthenticatorKit
import OneTimePassword
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// What a program of VaultKit alone must keep of items whose components it does not have, because of what another program does with
/// them later.
@Suite("What a program without components leaves behind", .bounded)
struct UnlinkedProgramTests {
  private let scene: CardScene

  init() throws { scene = try CardScene() }

  private var place: TemporaryVault { scene.place }

  @discardableResult
  private func add(_ kind: ItemKind, _ name: String? = nil, of owner: ItemID? = nil) throws -> ItemID {
    var new = NewItem(kind, name: name, access: AccessControl(thisDeviceOnly: owner != nil))
    if let owner {
      new.attributes[.account] = owner.hexadecimal
      new.attributes[.label] = "of \(owner.hexadecimal)"
    }
    return try scene.core.add(new, secret: SecretBytes(testing: "secret"), by: Component(kind)).id
  }

  /// Section 12. Verified to fail when the rules of unknown kinds check no attributes, and when they check those of items without a
  /// life too.
  @Test("it stores no card number as the name of a token, and any name of another item", .requirement("C5"))
  func names() throws {
    try scene.store()
    try add(.otp, "bank")
    for number in ["4111 1111 1111 1111", "123"] {
      try expect(
        place.runUnlinked("rename", "card", number, at: scene.clock), equals: ["policy", "problems 0"])
    }
    try expect(place.runUnlinked("rename", "card", "other", at: scene.clock).first, equals: "done")
    try expect(place.runUnlinked("rename", "bank", "1234", at: scene.clock).first, equals: "done")
    try expect(scene.core.items(matching: Query()).map(\.name), equals: ["other", "1234"])
  }

  /// Verified to fail when only what is known to belong to an item goes with it.
  @Test(
    "with a credential it deletes the transactions, with a registration the tokens, and nothing of others")
  func belongings() throws {
    let (bank, client, other) = (try add(.otp, "bank"), try add(.clientRegistration, "client"), try add(.otp))
    for owner in [bank, other] { try add(.transaction, of: owner) }
    try add(.tokenSet, of: client)
    try expect(place.runUnlinked("delete", "bank"), equals: ["done", "problems 0"])
    try expect(
      scene.core.items(matching: Query(.transaction)).map { $0.attributes[.account] },
      equals: [other.hexadecimal])
    try expect(place.runUnlinked("delete", "client"), equals: ["done", "problems 0"])
    try expect(scene.core.items(matching: Query()).map(\.kind), equals: [.otp, .transaction])
    try expect(place.runUnlinked("clear"), equals: ["done", "problems 0"])
    try expect(scene.core.items(matching: Query()).count, equals: 0)
  }

  /// Verified to fail when the rules of unknown kinds keep nothing of a newer state.
  @Test(
    "its restore over a vault does not undo what a server has ended",
    arguments: [CredentialState.blocked, .disabled])
  func restoring(to ended: CredentialState) throws {
    let place = TemporaryVault(environment: .testing(clock: FixedClock()))
    let file = place.folder + "/data/old.backup"
    let bank = try end(as: ended, in: place, after: file)
    try expect(place.runUnlinked("restore", file), equals: ["restored", "problems 0"])
    let state = try place.openCore().state(of: bank)
    #expect(try state.credentialState() == ended && state.codesSinceSynchronization == 7)
  }

  /// Makes a vault with a credential that is active in the backup and has ended in the vault, which nobody holds open then.
  private func end(as state: CredentialState, in place: TemporaryVault, after file: String) throws -> ItemID {
    let core = try place.makeCore()
    let bank = try core.add(
      NewItem(.otp, name: "bank"), secret: SecretBytes(testing: "secret"), by: Component(.otp)
    ).id
    func change(to state: CredentialState, codes: UInt32) throws {
      try core.writing { transaction throws(VaultError) in
        try transaction.changeState(of: bank) {
          $0.set(state)
          $0.codesSinceSynchronization = codes
        }
      }
    }
    try change(to: .active, codes: 2)
    _ = try core.backUp(to: file, passphrase: Passcode(testing: "phrase"))
    try change(to: state, codes: 7)
    return bank
  }

  /// Verified to fail when only a code whose kind is known goes with its entry.
  @Test("with an entry it deletes the code of the entry, and no item that has a name")
  func codes() throws {
    for name in ["shop", "mail"] {
      _ = try scene.core.add(NewItem(.genericPassword, name: name), secret: SecretBytes(testing: "secret"))
    }
    let secret = "secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    let uri = try OTPAuthURI(parsing: SecretBytes(testing: "otpauth://hotp/a?counter=0&" + secret))
    _ = try scene.core.addOTP(uri, named: "shop")
    var changes = ItemChanges()
    changes.attributes[.ownedItem] = try add(.otp, "bank").bytes
    try scene.core.update(scene.core.item(named: "mail").id, changes)
    for name in ["shop", "mail"] {
      try expect(place.runUnlinked("delete", name), equals: ["done", "problems 0"])
    }
    try expect(scene.core.items(matching: Query()).map(\.name), equals: ["bank"])
  }

  /// Verified to fail when its backup has what has a life, and when a restore takes what a backup should not have.
  @Test("a token does not leave with its backup, and what did is left out by a restore", .requirement("C3"))
  func backup() throws {
    let token = try scene.store(uses: 2)
    try add(.cardToken, "without a life")
    try add(.otp, "bank")
    try expect(place.runUnlinked("backup", at: scene.clock), equals: ["done", "problems 0"])
    let file = place.folder + "/data/unlinked.backup"
    let restored = try VaultCore.restore(
      from: file, passphrase: Passcode(testing: "phrase"), to: place.folder + "/data/restored.vault",
      protector: place.protector, environment: place.environment)
    expect(
      restored.report.leftOut.map { "\($0.name ?? "") \($0.reason.rawValue)" },
      equals: ["without a life shortLived"])
    try expect(restored.core.items(matching: Query()).map(\.name), equals: ["bank"])
    let losses = try VaultCore.losses(
      byRestoring: BackupFile(reading: file, beside: place.path), passphrase: Passcode(testing: "phrase"),
      over: scene.core.restorePoint(), environment: place.environment)
    expect(losses.dropped.compactMap(\.name), equals: ["card", "without a life"])
    try expect(scene.take(token), equals: CardScene.token)
  }

  /// Verified to fail when it notes no time for what it passes over.
  @Test("what it does not delete for its expiry, the next program with the component deletes")
  func expired() throws {
    let day: Int64 = 86_400
    let end = scene.clock.now().advanced(byMilliseconds: day * 1000)
    _ = try scene.core.add(
      NewItem(.responseJWT, name: "answer", access: AccessControl(thisDeviceOnly: true), expires: end),
      secret: SecretBytes(testing: "s"), by: Component(.responseJWT))
    for number in 1...5 {
      scene.clock.advance(by: .seconds(day))
      try expect(place.runUnlinked("add", "\(number)", at: scene.clock), equals: ["done", "problems 0"])
    }
    try expect(scene.core.items(matching: Query(.responseJWT)).count, equals: 1)
    scene.clock.advance(by: .seconds(day))
    try expect(place.openCore().items(matching: Query(.responseJWT)).count, equals: 0)
  }

  /// Verified to fail when a list looks at the mark of a verifier.
  @Test("its marks in an older state of the file stop what a counter makes for others, and nothing else")
  func marks() throws {
    let core = scene.core
    func add(_ name: String, _ uri: String, _ role: OTPRole = .prover) throws -> ItemID {
      let secret = "secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
      let uri = try OTPAuthURI(parsing: SecretBytes(testing: "otpauth://\(uri)\(secret)"))
      return try core.addOTP(uri, named: name, role: role).item.id
    }
    let prover = try add("prover", "hotp/a?counter=0&")
    let verifier = try add("verifier", "hotp/a?counter=0&", .verifier)
    let timed = try add("timed", "totp/a?")
    try place.keepRows()
    _ = try core.add(NewItem(.genericPassword, name: "later"))
    try place.putRowsBack()
    try expect(place.runUnlinked("add", "x", at: scene.clock), equals: ["done", "problems 0"])
    let after = try place.openCore()
    for id in [prover, verifier, timed] { #expect(try after.state(of: id).needsResync) }
    expect(.outOfStep) { () throws(VaultError) in _ = try after.nextHOTPCode(of: prover) }
    _ = try after.verifyOTP(of: verifier, code: "755224")
    _ = try after.timedCode(of: timed)
    try expect(after.listing(of: .otp).counterMarks, equals: [prover: .mustBeSet])
  }

  /// Verified to fail when a consent without a secret counts as one that waits.
  @Test(
    "a consent that it ends at its time has expired, although its state does not say so", .requirement("C1"))
  func consent() throws {
    let made = try scene.core.issueConsent(CardScene.new)
    scene.clock.advance(by: .seconds(400))
    try expect(place.runUnlinked("add", "x", at: scene.clock), equals: ["done", "problems 0"])
    #expect(try scene.sealed() == 0 && scene.core.state(of: made.consent.id).progress == 0)
    try expect(scene.status(made.consent.id), equals: .expired)
    expect(.expired) { () throws(VaultError) in
      _ = try scene.core.judgeConsent(made.consent.id, CardScene.code("000000"))
    }
  }
}
