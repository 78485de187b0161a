import AuthenticatorKit
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// What a program of VaultKit alone (`vault-unlinked`) can do to items of components.
///
/// Verified to fail when unknown kinds are of everybody, when they guard nobody, and when they have the name as their only primary
/// attribute (the token set is then moved under another key).
@Suite("A program without components", .bounded)
struct UnlinkedKindTests {
  private let place = TemporaryVault()

  private func add(_ kind: ItemKind, behind pin: ItemID? = nil, to core: VaultCore) throws -> ItemID {
    var new = NewItem(kind)
    if kind.hasName { new.attributes[.name] = kind.rules.word }
    new.attributes[.account] = "anna"
    new.guardingPIN = pin.map { GuardingPIN(.camouflaged, item: $0) }
    let component = Component(kind, pin: pin == nil ? nil : .camouflaged)
    return try core.add(new, secret: SecretBytes(testing: "secret"), by: component).id
  }

  private func addAll(to core: VaultCore) throws {
    let pin = try add(.pin, to: core)
    _ = try add(.otp, behind: pin, to: core)
    for kind in [ItemKind.biokey, .cardToken, .clientRegistration, .responseJWT] {
      _ = try add(kind, to: core)
    }
  }

  @Test("it lists and renames them, and reads and changes no more of them", .requirement("C8"))
  func calls() throws {
    let made = try place.makeCore()
    try addAll(to: made)
    let answers = "unsupported unsupported unsupported done"
    try expect(
      place.runUnlinked(),
      equals: [17, 16, 18, 19, 21, 24].map { "\($0) kind-\($0) \(answers)" }
        + ["backup done", "rotate done", "problems 0"])
    let core = try place.openCore()
    try expect(
      core.items(matching: Query()).map(\.name), equals: [17, 16, 18, 19, 21, 24].map { "renamed \($0)" })
    try expect(core.verify().problems, equals: [])
  }

  @Test("it deletes them, but no PIN that guards one")
  func deletion() throws {
    let made = try place.makeCore()
    try addAll(to: made)
    let refused = try place.runUnlinked("delete")
    expect(refused.first, equals: "17 policy")
    expect(refused.dropFirst().dropLast(), equals: [16, 18, 19, 21, 24].map { "\($0) done" })
    try expect(place.runUnlinked("delete"), equals: ["17 done", "problems 0"])
  }

  @Test(
    "its rotation stops at an item whose key in the index only the component can tell, and changes no such item"
  )
  func nameless() throws {
    let made = try place.makeCore()
    _ = try add(.tokenSet, to: made)
    let answers = try place.runUnlinked()
    expect(answers.first, equals: "23 kind-23 unsupported unsupported unsupported unsupported")
    #expect(answers.contains("rotate newerFormat") && answers.contains("problems 0"))
    let core = try place.openCore()
    _ = try core.rotateEpoch()
    try expect(core.verify().problems, equals: [])
    try expect(core.items(matching: Query(.tokenSet)).count, equals: 1)
  }
}
