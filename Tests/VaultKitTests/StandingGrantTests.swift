import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// What a person lets a program do again.
@Suite("Grants that last", .bounded, .requirement("G22"))
struct StandingGrantTests {
  private let place = TemporaryVault(environment: .testing(clock: FixedClock()))
  private let shelf = GrantShelf()

  private func item(_ name: String, _ constraints: Constraints, _ core: VaultCore) throws -> ItemID {
    let new = NewItem(.genericPassword, name: name, access: try AccessControl(constraints))
    guard constraints.contains(.applicationPassword) else {
      return try core.add(new, secret: SecretBytes(testing: name)).id
    }
    let context = AuthenticationContext(reason: "", prompt: GrantingPrompt(passcode: "own"))
    context.provide(try ApplicationPassword(testing: "own"))
    return try core.add(new, secret: SecretBytes(testing: name), context: context).id
  }

  private func export(_ id: ItemID, _ core: VaultCore, _ context: AuthenticationContext) throws {
    try core.beginReading(.secret(.export, of: id, by: nil), context: context).end()
  }

  private func context(_ prompt: GrantingPrompt) -> AuthenticationContext {
    var context = AuthenticationContext(reason: "", prompt: prompt)
    context.grants = shelf
    return context
  }

  @Test("it serves the operation on the item that it is for, and nobody is asked; each use is counted")
  func serves() throws {
    let core = try place.makeCore(passcode: "1234")
    let (near, other) = (try item("near", .userPresence, core), try item("other", .userPresence, core))
    let prompt = GrantingPrompt(passcode: "1234", answering: [.uses(3)])
    for _ in 0..<3 {
      try expect(core.secret(of: near, context: context(prompt)).bytesForTesting, equals: Array("near".utf8))
    }
    #expect(prompt.typed == 1 && prompt.offers.count == 1 && shelf.uses == 2)
    expect(prompt.offers.first?.label, equals: "near")
    try expect(core.secret(of: other, context: context(prompt)).bytesForTesting, equals: Array("other".utf8))
    #expect(prompt.typed == 2 && shelf.uses == 2)
    // Another operation on the same item.
    try export(near, core, context(prompt))
    #expect(prompt.typed == 3 && shelf.uses == 2)
  }

  /// Verified to fail when the rule of the item is not looked at.
  @Test("a rule that asks at each use is offered none, nor is an export or a text that is signed")
  func otherRules() throws {
    let core = try place.makeCore(passcode: "1234")
    let prompt = GrantingPrompt(passcode: "1234", answering: [.uses(3)])
    let typed = try item("typed", .devicePasscode, core)
    for _ in 0..<2 { _ = try core.secret(of: typed, context: context(prompt)) }
    let both = try item("both", [.userPresence, .applicationPassword], core)
    let given = context(prompt)
    given.provide(try ApplicationPassword(testing: "own"))
    _ = try core.secret(of: both, context: given)
    let near = try item("near", .userPresence, core)
    try export(near, core, context(prompt))
    _ = try core.secret(of: near, context: context(prompt).showing(ShownText("Pay 12 EUR")))
    _ = try core.secret(of: near, context: context(prompt).forOneDecision)
    #expect(prompt.offers.isEmpty && shelf.grants.isEmpty && prompt.typed == 6)
  }

  @Test("a text that is signed is shown, whatever the person has allowed before")
  func texts() throws {
    let core = try place.makeCore(passcode: "1234")
    let near = try item("near", .userPresence, core)
    let prompt = GrantingPrompt(passcode: "1234", answering: [.time(seconds: 60)])
    _ = try core.secret(of: near, context: context(prompt))
    _ = try core.secret(of: near, context: context(prompt).showing(ShownText("Pay 12 EUR")))
    #expect(prompt.typed == 2 && shelf.uses == 0)
  }

  @Test("no is no: nothing is opened although the person was verified, and the log says why")
  func refused() throws {
    let core = try place.makeCore(passcode: "1234")
    let near = try item("near", .userPresence, core)
    let prompt = GrantingPrompt(passcode: "1234", answering: [.no])
    expect(.cancelled) { () throws(VaultError) in _ = try core.secret(of: near, context: context(prompt)) }
    #expect(prompt.typed == 1 && shelf.grants.isEmpty)
  }

  /// Verified to fail when neither the session nor the rows are compared.
  @Test(
    "it ends with a lock and with each change of the item, and the person is asked again",
    arguments: ["lock", "secret", "label", "name", "deletion", "other item"])
  func ends(by change: String) throws {
    let core = try place.makeCore(passcode: "1234")
    let near = try item("near", .userPresence, core)
    let other = try item("other", .userPresence, core)
    let prompt = GrantingPrompt(passcode: "1234", answering: [.time(seconds: 60)])
    _ = try core.secret(of: near, context: context(prompt))
    var changes = ItemChanges()
    switch change {
    case "lock":
      core.lock()
      try core.unlock(with: Passcode(testing: "1234"))
    case "secret":
      try core.update(near, changes, secret: SecretBytes(testing: "new"), context: context(prompt))
    case "label":
      changes.attributes[.label] = "a label"
      try core.update(near, changes, context: context(prompt))
    case "name":
      changes.attributes[.name] = "far"
      try core.update(near, changes, context: context(prompt))
    case "deletion": try core.delete(Query(id: near))
    default: try core.delete(Query(id: other))
    }
    let (before, stays) = (prompt.typed, change == "other item")
    try expect(#require(shelf.grants.first).isOver(in: core), equals: !stays)
    guard change != "deletion" else {
      return expect(.itemNotFound) { () throws(VaultError) in
        _ = try core.secret(of: near, context: context(prompt))
      }
    }
    _ = try core.secret(of: near, context: context(prompt))
    #expect(prompt.typed == before + (stays ? 0 : 1) && shelf.ended == (stays ? 0 : 1), "\(change)")
  }

  @Test("a change of the passcode ends it")
  func passcode() throws {
    let core = try place.makeCore(passcode: "1234")
    let near = try item("near", .userPresence, core)
    let prompt = GrantingPrompt(passcode: "1234", answering: [.time(seconds: 60)])
    _ = try core.secret(of: near, context: context(prompt))
    try core.changePasscode(from: Passcode(testing: "1234"), to: Passcode(testing: "5678"))
    let later = GrantingPrompt(passcode: "5678")
    _ = try core.secret(of: near, context: context(later))
    #expect(later.typed == 1 && shelf.uses == 0)
  }

  @Test(
    "what is typed is once, no, a time or a number of uses, within bounds; everything else means nothing",
    arguments: [
      ("", GrantAnswer.once), ("o", .once), ("ONCE", .once), ("y", .once), ("1x", .once), ("n", .no),
      ("No", .no),
      ("90s", .time(seconds: 90)), ("5m", .time(seconds: 300)), ("12h", .time(seconds: 43_200)),
      ("3x", .uses(3)),
      ("100X", .uses(100)), ("101x", nil), ("13h", nil), ("0m", nil), ("0x", nil), ("5", nil), ("x", nil),
      ("-3x", nil),
      ("5 m", nil), ("٣x", nil), ("99999999999x", nil), ("maybe", nil), ("3xx", nil), ("1d", nil),
    ])
  func answers(typed: String, answer: GrantAnswer?) {
    expect(GrantAnswer(typed: typed), equals: answer, "\(typed)")
    if let answer { expect(GrantAnswer(typed: answer.typed), equals: answer) }
  }
}
