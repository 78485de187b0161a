import AuthenticatorKit
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// Verified to fail when a guarded item that was changed meanwhile is given as it was opened, when the reading is not logged, when items of
/// components are not refused, and when the person is asked before every name was looked up.
@Suite("Values of several references", .bounded)
struct WantedValueTests {
  private let place = TemporaryVault(environment: .testing(clock: FixedClock()))

  private func make() throws -> VaultCore {
    let core = try place.makeCore(passcode: "passcode")
    var web = NewItem(.genericPassword, name: "web/shop")
    web.attributes[.account] = "anna"
    web.attributes[.service] = "shop.example"
    _ = try core.add(web, secret: SecretBytes(testing: "s-web"))
    _ = try core.add(NewItem(.genericPassword, name: "db"), secret: SecretBytes(testing: "s-db"))
    var logged = NewItem(.genericPassword, name: "logged")
    logged.audit = .all
    _ = try core.add(logged, secret: SecretBytes(testing: "s-logged"))
    for name in ["first", "second"] {
      let guarded = try NewItem(.genericPassword, name: name, access: AccessControl(.devicePasscode))
      _ = try core.add(guarded, secret: SecretBytes(testing: "s-" + name))
    }
    return core
  }

  /// The values, each with a `!` if it is concealed in outputs.
  private func values(
    _ core: VaultCore, _ texts: [String], context: AuthenticationContext? = nil,
    meanwhile: () throws -> Void = {}
  ) throws -> [String] {
    let wanted = try texts.map { text throws(VaultError) -> WantedValue in
      VaultReference.isMeant(by: text) ? .field(try VaultReference(text)) : .secret(of: text)
    }
    return try core.values(of: wanted) { _ in
      try meanwhile()
      return context
    }.map { given in
      String(decoding: given.value.secret.bytes.bytesForTesting, as: UTF8.self)
        + (given.value.isConcealed ? "!" : "")
    }
  }

  private func context(_ prompt: ScriptedPrompt) -> AuthenticationContext {
    AuthenticationContext(reason: "because", prompt: prompt)
  }

  private func readings(_ core: VaultCore) throws -> Int {
    try core.auditEntries().count { $0.operation == .itemRead }
  }

  /// The failure of one value: its index and its code.
  private func failure(_ core: VaultCore, _ texts: [String]) throws -> String {
    do { return try values(core, texts).joined() } catch let failure as WantedFailure {
      return "\(failure.index) \(failure.error.code.rawValue)"
    }
  }

  @Test("names and references give their values in their order, and only attributes are not concealed")
  func plain() throws {
    let core = try make()
    let texts = [
      "vaultctl://web/shop/password", "db", "vaultctl://web%2Fshop", "vaultctl://web/shop/account",
      "vaultctl://web/shop/service", "vaultctl://db",
    ]
    try expect(
      values(core, texts), equals: ["s-web!", "s-db!", "s-web!", "anna", "shop.example", "s-db!"])
    try expect(values(core, []), equals: [])
    try expect(readings(core), equals: 0)
  }

  @Test("the parts of an entry and its own fields have references, and what is shown is not concealed")
  func entries() throws {
    let core = try make()
    var content = EntryContent()
    try content.setNotes(SecretBytes(testing: "one\ntwo"))
    try content.setField("PIN of card", to: SecretBytes(testing: "1357"))
    try content.setField("customer", to: SecretBytes(testing: "4711"), isHidden: false)
    // A word that means a part of each entry means no other field.
    try content.setField("url", to: SecretBytes(testing: "not this"))
    try content.setField("account", to: SecretBytes(testing: "nor this"))
    try content.addAddress(SecretBytes(testing: "https://shop.example/login"))
    try content.addAddress(SecretBytes(testing: "https://other.example"))
    let shop = try core.add(NewItem(.internetPassword, name: "shop"), entry: content)
    let texts = ["notes", "PIN%20of%20card", "customer", "url"].map { "vaultctl://shop/" + $0 }
    try expect(
      values(core, texts), equals: ["one\ntwo!", "1357!", "4711", "https://shop.example/login"])
    for text in ["vaultctl://shop", "shop", "vaultctl://shop/password", "vaultctl://shop/customer%20"] {
      try expect(failure(core, ["db", text]), equals: "1 itemNotFound")
    }
    try core.update(shop.id, ItemChanges(), secret: SecretBytes(testing: "s-shop"))
    try expect(
      values(core, ["vaultctl://shop", "shop", "vaultctl://shop/notes"]),
      equals: ["s-shop!", "s-shop!", "one\ntwo!"])
    try core.moveToTrash(shop.id)
    try expect(failure(core, ["vaultctl://shop/notes"]), equals: "0 itemNotFound")
  }

  @Test("an item whose readings are logged is logged once, before its value is given")
  func logged() throws {
    let core = try make()
    try expect(
      values(core, ["vaultctl://logged", "logged", "db"]), equals: ["s-logged!", "s-logged!", "s-db!"])
    try expect(readings(core), equals: 1)
    // The transaction has opened it before it finds that the other has no such field.
    try expect(failure(core, ["logged", "vaultctl://db/nothing"]), equals: "1 itemNotFound")
    try expect(readings(core), equals: 1)
  }

  @Test("each item with a rule asks once, whatever is wanted of it, and its account asks nobody")
  func guarded() throws {
    let core = try make()
    let prompt = ScriptedPrompt([.text("passcode"), .text("passcode")])
    let texts = ["vaultctl://first", "db", "vaultctl://second/password", "first"]
    try expect(
      values(core, texts, context: context(prompt)), equals: ["s-first!", "s-db!", "s-second!", "s-first!"])
    expect(prompt.requests.count, equals: 2)
    try expect(readings(core), equals: 2)
    try expect(values(core, ["vaultctl://web/shop/account"]), equals: ["anna"])
  }

  @Test("the verification of one item does not lapse while the person is asked for the next")
  func slowly() throws {
    let clock = FixedClock()
    let place = TemporaryVault(environment: .testing(clock: clock))
    let core = try place.makeCore(passcode: "passcode")
    for name in ["first", "second"] {
      let guarded = try NewItem(.genericPassword, name: name, access: AccessControl(.devicePasscode))
      _ = try core.add(guarded, secret: SecretBytes(testing: "s-" + name))
    }
    let prompt = ScriptedPrompt([.text("passcode"), .text("passcode")])
    try expect(
      values(core, ["first", "second"], context: context(prompt)) { clock.advance(by: .seconds(60)) },
      equals: ["s-first!", "s-second!"])
  }

  enum Change: CaseIterable {
    case newSecret
    case replacement
    case newKeys

    func make(in core: VaultCore) throws {
      switch self {
      case .newSecret:
        let context = AuthenticationContext(reason: "", prompt: ScriptedPrompt([.text("passcode")]))
        try core.update(
          core.item(named: "first").id, ItemChanges(), secret: SecretBytes(testing: "new"), context: context)
      case .replacement:
        try core.delete(core.item(named: "db").id)
        _ = try core.add(NewItem(.genericPassword, name: "db"), secret: SecretBytes(testing: "other"))
      case .newKeys: try core.rotateDeviceKey()
      }
    }
  }

  @Test(
    "when an item or the keys change while a person is asked, nothing is given", arguments: Change.allCases)
  func changed(change: Change) throws {
    let core = try make()
    let prompt = ScriptedPrompt([.text("passcode"), .text("passcode"), .text("passcode")])
    var calls = 0
    let error = #expect(throws: VaultError.self) {
      try values(core, ["first", "second", "db"], context: context(prompt)) {
        calls += 1
        // The first item is open, and the person is about to be asked for the second.
        guard calls == 2 else { return }
        let other = try place.openCore()
        try other.unlock(with: Passcode(testing: "passcode"))
        try change.make(in: other)
      }
    }
    expect(error?.code, equals: .busy)
  }

  @Test(
    "what is not there is found before anybody is asked, and named",
    arguments: [
      ("vaultctl://nobody", "itemNotFound"), ("nobody", "itemNotFound"),
      ("vaultctl://db/service", "itemNotFound"),
      ("vaultctl://second/service", "itemNotFound"),
    ])
  func absent(text: String, code: String) throws {
    let core = try make()
    let texts = ["db", text]
    try expect(failure(core, texts), equals: "1 \(code)")
    // With an item that asks before it.
    let prompt = ScriptedPrompt()
    #expect(throws: WantedFailure.self) {
      try values(core, ["first", "vaultctl://nobody"], context: context(prompt))
    }
    expect(prompt.requests.count, equals: 0)
  }

  @Test("an item of a component gives nothing to a reference, also what is public")
  func ofComponents() throws {
    let core = try make()
    var code = NewItem(.otp, name: "code")
    code.attributes[.account] = "anna"
    _ = try core.add(code, secret: SecretBytes(testing: "s"), by: Component(.otp))
    for text in ["vaultctl://code/account", "vaultctl://code"] {
      try expect(failure(core, ["db", text]), equals: "1 policy")
      expect(.policy) { () throws(VaultError) in
        _ = try core.reading { transaction throws(VaultError) in
          try transaction.value(of: VaultReference(text)).byteCount
        }
      }
    }
  }

  @Test("a locked vault gives accounts, and for all else asks for the passcode")
  func locked() throws {
    let core = try make()
    core.lock()
    try expect(values(core, ["vaultctl://web/shop/account"]), equals: ["anna"])
    #expect(throws: VaultError.self) { try values(core, ["vaultctl://web/shop/account", "db"]) }
    try core.unlock(with: Passcode(testing: "passcode"))
    try expect(values(core, ["vaultctl://web/shop/account", "db"]), equals: ["anna", "s-db!"])
  }

  @Test("a reference is a function of a transaction, for programs")
  func inTransaction() throws {
    let core = try make()
    let texts = try core.read { transaction in
      try ["vaultctl://db", "vaultctl://web/shop/account"].map { text in
        let value = try transaction.value(of: VaultReference(text))
        return String(decoding: value.bytesForTesting, as: UTF8.self)
      }
    }
    expect(texts, equals: ["s-db", "anna"])
    let prompt = ScriptedPrompt([.text("passcode")])
    let context = context(prompt)
    let guarded = try core.item(named: "first").id
    try core.prepareSecrets(of: [guarded], context: context)
    try core.write { transaction in
      let value = try transaction.value(of: VaultReference("vaultctl://first"), context: context)
      expect(value.byteCount, equals: 7)
    }
    expect(.verificationNeeded) { () throws(VaultError) in
      _ = try core.reading { transaction throws(VaultError) in
        try transaction.value(of: VaultReference("vaultctl://first"), context: context).byteCount
      }
    }
    expect(.itemNotFound) { () throws(VaultError) in
      _ = try core.reading { transaction throws(VaultError) in
        try transaction.value(of: VaultReference("vaultctl://db/nothing")).byteCount
      }
    }
  }
}
