import AuthenticatorKit
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// What a program of VaultKit alone (`vault-unlinked`) can do to items of components.
///
/// Verified to fail when unknown kinds are of everybody, when they are deleted, and when they have the name as their only primary
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

  private func run() throws -> [String] {
    let result = try Program(Built.path("vault-unlinked"), [place.folder]).run()
    expect(result.status, equals: 0, "\(result.text)")
    return result.text.split(separator: "\n").map(String.init)
  }

  @Test("it lists them, and reads, changes and deletes nothing of them", .requirement("C8"))
  func calls() throws {
    let made = try place.makeCore()
    let pin = try add(.pin, to: made)
    _ = try add(.otp, behind: pin, to: made)
    for kind in [ItemKind.biokey, .cardToken, .clientRegistration, .responseJWT] {
      _ = try add(kind, to: made)
    }
    let before = try made.items(matching: Query()).map { "\($0.id) \($0.version)" }
    let refused = Array(repeating: "unsupported", count: 4).joined(separator: " ")
    try expect(
      run(),
      equals: [17, 16, 18, 19, 21, 24].map { "\($0) kind-\($0) \(refused)" }
        + ["all unsupported", "backup done", "rotate done", "problems 0"])
    let core = try place.openCore()
    try expect(
      core.items(matching: Query()).map(\.id.description).sorted(),
      equals: before.map { String($0.split(separator: " ")[0]) }.sorted())
    try expect(core.verify().problems, equals: [])
    let error = thrown { () throws(VaultError) in try core.delete(pin) }
    #expect(error?.code == .policy)
  }

  @Test(
    "its rotation stops at an item whose key in the index only the component can tell, and changes no such item"
  )
  func nameless() throws {
    let made = try place.makeCore()
    _ = try add(.tokenSet, to: made)
    let answers = try run()
    #expect(answers.contains("rotate newerFormat") && answers.contains("problems 0"))
    let core = try place.openCore()
    _ = try core.rotateEpoch()
    try expect(core.verify().problems, equals: [])
    try expect(core.items(matching: Query(.tokenSet)).count, equals: 1)
  }
}
