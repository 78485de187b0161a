import AuthenticatorKit
import SecretMemory
import TestSupport
import Testing
import VaultCrypto
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Client keys in a vault", .bounded, .requirement("D5", "D7"))
struct ClientKeyTests {
  private let place = TemporaryVault()

  private func generate(
    _ core: VaultCore, _ type: ClientKeyType = .p256, _ name: String = "shop",
    _ adjust: (inout NewClientKey) -> Void = { _ in }
  ) throws(VaultError) -> ClientKeyDescription {
    var new = NewClientKey(name: name)
    adjust(&new)
    return try core.generateClientKey(type, new)
  }

  @Test(
    "a key of each type signs in another process, and its public half accepts that signature alone",
    arguments: ClientKeyType.allCases)
  func types(type: ClientKeyType) throws {
    let made = try generate(place.makeCore(), type)
    #expect(made.type == type && !made.isExportable && made.certificates.isEmpty)
    let core = try place.openCore()
    let found = try core.describeClientKey(named: "shop")
    expect(found.publicKey, equals: made.publicKey)
    for form in SignatureForm.allCases {
      let signature = try core.signer(of: made.item.id).sign(Array("12 EUR".utf8), as: form)
      try found.publicKey.verify(signature, of: Array("12 EUR".utf8), as: form)
      var altered = signature
      altered[altered.count / 2] ^= 1
      for (signature, text) in [(signature, "92 EUR"), (altered, "12 EUR"), ([], "12 EUR")] {
        expect(.authenticationFailed) { () throws(VaultError) in
          try found.publicKey.verify(signature, of: Array(text.utf8), as: form)
        }
      }
    }
    try expect(core.verify().problems, equals: [])
  }

  @Test("raw signatures of a curve are r and s, those in DER are what X.509 writes")
  func forms() throws {
    let core = try place.makeCore()
    for (type, count) in [(ClientKeyType.p256, 64), (.p384, 96)] {
      let key = try generate(core, type, type.rawValue)
      let signer = try core.signer(of: key.item.id)
      #expect(try signer.sign([1]).count == count && signer.sign([1], as: .der).first == 0x30)
      let raw = try signer.sign([1])
      expect(.authenticationFailed) { () throws(VaultError) in
        try key.publicKey.verify(raw, of: [1], as: .der)
      }
    }
  }

  /// Verified to fail when every key is added as one that is exportable.
  @Test("the private key of a key that is not exportable is for its component alone")
  func exportable() throws {
    let core = try place.makeCore()
    let fixed = try generate(core)
    let open = try generate(core, .ed25519, "open") { $0.isExportable = true }
    let refused = thrown { () throws(VaultError) in _ = try core.secret(of: fixed.item.id) }
    #expect(refused?.code == .policy && refused?.advice == .signWithKey)
    expect(.policy) { () throws(VaultError) in
      _ = try core.update(fixed.item.id, ItemChanges(), secret: SecretBytes(testing: "x"))
    }
    var changes = ItemChanges()
    changes.attributes[Attribute<[UInt8]>(code: 85)] = open.publicKey.subjectPublicKeyInfo
    expect(.policy) { () throws(VaultError) in _ = try core.update(fixed.item.id, changes) }
    let key = try SigningKey(pkcs8: core.secret(of: open.item.id))
    expect(key.publicKey.spki, equals: open.publicKey.subjectPublicKeyInfo)
  }

  @Test("a vault has one key once and one name once; a rename and a deletion are those of any item")
  func duplicates() throws {
    let core = try place.makeCore()
    let bytes = try KeyFileTests.bytes("p256.pkcs8.pem")
    let first = try KeyFileTests.importing(bytes, nil, into: core)
    expect(.duplicateItem) { () throws(VaultError) in _ = try generate(core, .ed25519, "imported") }
    let again = try KeyFile(SecretBytes(copying: bytes))
    let error = thrown { () throws(VaultError) in
      _ = try core.importClientKey(again, NewClientKey(name: "another name"))
    }
    #expect(
      error?.code == .duplicateItem && error?.message == "the vault has this key already, as 'imported'")
    _ = try generate(core)
    try expect(core.listClientKeys().map(\.item.name), equals: ["imported", "shop"])
    var changes = ItemChanges()
    changes.attributes[.name] = "renamed"
    _ = try core.update(first.item.id, changes)
    try expect(core.describeClientKey(named: "renamed").publicKey, equals: first.publicKey)
    try core.delete(first.item.id)
    expect(.itemNotFound) { () throws(VaultError) in _ = try core.describeClientKey(of: first.item.id) }
    _ = try core.importClientKey(again, NewClientKey(name: "another name"))
  }

  @Test("without the passcode the public half is there and nothing is signed, made or imported")
  func locked() throws {
    let made = try generate(place.makeCore(passcode: "correct"))
    let core = try place.openCore()
    try expect(core.describeClientKey(named: "shop").publicKey, equals: made.publicKey)
    try expect(core.listClientKeys().count, equals: 1)
    expect(.locked) { () throws(VaultError) in _ = try core.signer(of: made.item.id) }
    expect(.locked) { () throws(VaultError) in _ = try generate(core, .p256, "other") }
    let context = AuthenticationContext(reason: "", prompt: ScriptedPrompt([.text("correct")]))
    let signature = try core.signer(of: made.item.id, context: context).sign([7])
    try made.publicKey.verify(signature, of: [7])
  }

  /// Verified to fail when the opening of a key writes no entry.
  @Test(
    "a plain signature writes nothing; with constraints or on request each opening is logged before it signs")
  func logged() throws {
    let core = try place.makeCore(passcode: "correct")
    let plain = try generate(core)
    let all = try generate(core, .ed25519, "all") { $0.audit = .all }
    let access = try AccessControl(.devicePasscode, accessibility: .whenUnlocked)
    let guarded = try generate(core, .p384, "guarded") { $0.access = access }
    let before = try core.status()
    for _ in 0..<3 { _ = try core.signer(of: plain.item.id).sign([1]) }
    try expect(core.status().sequence, equals: before.sequence)
    let signer = try core.signer(of: all.item.id)
    try expect(core.status().auditSequence, equals: before.auditSequence + 1)
    for _ in 0..<3 { _ = try signer.sign([1]) }
    try expect(core.status().auditSequence, equals: before.auditSequence + 1)
    expect(.interactionNotAllowed) { () throws(VaultError) in _ = try core.signer(of: guarded.item.id) }
    let prompt = ScriptedPrompt([.text("correct")])
    let context = AuthenticationContext(reason: "", prompt: prompt)
    _ = try core.signer(of: guarded.item.id, to: "prove who you are", context: context).sign([1])
    expect(prompt.requests.map(\.operation), equals: ["prove who you are"])
    let log = try core.auditEntries(from: before.auditSequence + 1)
    expect(log.filter { $0.operation == .keySigned }.map(\.item), equals: [all.item.id, guarded.item.id])
  }

  /// The device key alone can change attributes. Verified to fail when the halves are not compared.
  @Test("a key whose attributes show another public half does not sign")
  func swapped() throws {
    let core = try place.makeCore()
    let (mine, other) = (try generate(core), try generate(core, .p256, "other"))
    var changes = ItemChanges()
    changes.attributes[Attribute<[UInt8]>(code: 85)] = other.publicKey.subjectPublicKeyInfo
    try core.writing { transaction throws(VaultError) in
      _ = try transaction.update(mine.item.id, changes, secret: nil, by: .key)
    }
    try expect(core.describeClientKey(of: mine.item.id).publicKey, equals: other.publicKey)
    expect(.damaged) { () throws(VaultError) in _ = try core.signer(of: mine.item.id) }
    changes.attributes[Attribute<[UInt8]>(code: 85)] = [0x30, 0x00]
    try core.writing { transaction throws(VaultError) in
      _ = try transaction.update(mine.item.id, changes, secret: nil, by: .key)
    }
    expect(.damaged) { () throws(VaultError) in _ = try core.describeClientKey(of: mine.item.id) }
    expect(.damaged) { () throws(VaultError) in _ = try core.signer(of: mine.item.id) }
  }

  @Test("items of other kinds, and keys that a program stored in its own form, are no client keys")
  func others() throws {
    let core = try place.makeCore()
    let password = try core.add(NewItem(.genericPassword, name: "mail"), secret: SecretBytes(testing: "x"))
    let own = try core.add(NewItem(.key, name: "own"), secret: SecretBytes(testing: "x"))
    expect(.itemNotFound) { () throws(VaultError) in _ = try core.signer(of: password.id) }
    expect(.unsupported) { () throws(VaultError) in _ = try core.signer(of: own.id) }
    expect(.unsupported) { () throws(VaultError) in _ = try core.describeClientKey(named: "own") }
    #expect(try core.listClientKeys().isEmpty)
  }

  @Test("a name that cannot be stored is refused before a key is made", arguments: ["", "a\u{7}b"])
  func names(name: String) throws {
    let core = try place.makeCore()
    let before = try core.status().sequence
    expect(.malformed) { () throws(VaultError) in _ = try generate(core, .rsa4096, name) }
    try expect(core.status().sequence, equals: before)
  }

  @Test("a backup takes keys and certificates along, but those of this device only")
  func backup() throws {
    let core = try place.makeCore()
    let bytes = try KeyFileTests.bytes("p256.chain.p12")
    let made = try KeyFileTests.importing(bytes, "correct horse", into: core)
    _ = try generate(core, .ed25519, "here") {
      $0.access = AccessControl(.whenUnlocked, thisDeviceOnly: true)
    }
    let report = try core.backUp(to: place.folder + "/backup", passphrase: Passcode(testing: "a long phrase"))
    expect(report.leftOut.map(\.name), equals: ["here"])
    expect(made.certificates.count, equals: 3)
  }
}

@Suite("Client keys by the public calls", .bounded, .requirement("D5", "D7"))
struct ClientKeyActorTests {
  @Test("a key is made, imported, found, listed and signs, for eight tasks at a time")
  func life() async throws {
    let vault = try TemporaryVault().make()
    let key = try await ClientKey.generate(.p256, NewClientKey(name: "shop"), in: vault)
    let file = try KeyFile(SecretBytes(copying: KeyFileTests.bytes("rsa3072.p12")))
    #expect(file.needsPassphrase)
    let imported = try await ClientKey.importing(
      file, passphrase: SecretBytes(testing: "correct horse"), NewClientKey(name: "tls"), in: vault)
    #expect(try await imported.describe().certificates.count == 1 && imported.type == .rsa3072)
    try await expect(ClientKey.list(in: vault).map(\.item.name), equals: ["shop", "tls"])
    let found = try await ClientKey(id: key.id, in: vault)
    let same = try await ClientKey.named("shop", in: vault)
    #expect(found.publicKey == key.publicKey && same.id == key.id)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<8 {
        group.addTask {
          for round in 0..<10 {
            let message = [UInt8(task), UInt8(round)]
            try key.publicKey.verify(await found.sign(message), of: message)
          }
        }
      }
      try await group.waitForAll()
    }
    let signer = try await key.signer()
    vault.lock()
    try key.publicKey.verify(signer.sign([1], as: .der), of: [1], as: .der)
    await #expect(throws: VaultError.self) {
      _ = try await ClientKey.importing(
        file, passphrase: SecretBytes(testing: "x"), NewClientKey(name: "y"), in: vault)
    }
  }
}
