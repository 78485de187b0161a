import AuthenticatorKit
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// Items whose keys need `D` of a PIN, or a session.
///
/// Verified to fail when the form of the keys follows from the constraint word alone, when the further secrets of the
/// alternatives are not compared with the policy, when they are joined in another order than the reader joins them, and
/// when a camouflaged PIN needs no component that unmasks.
@Suite("Secrets behind a PIN or a session", .bounded)
struct FurtherSecretsTests {
  private static let pin = ItemID([UInt8](repeating: 9, count: 16))!

  /// A vault with the PIN item that guards.
  private func makeCore(_ place: TemporaryVault = TemporaryVault()) throws -> VaultCore {
    let core = try place.makeCore(passcode: "passcode")
    var pin = NewItem(.pin, name: "pin")
    pin.id = Self.pin
    _ = try core.add(pin, by: Component(.pin))
    return core
  }

  private static func secret(_ byte: UInt8) -> SharedSecret {
    SharedSecret(SecretBytes(copying: [UInt8](repeating: byte, count: 32)))
  }

  private static func life(session: Bool) -> TokenLife {
    TokenLife(
      issued: Instant(milliseconds: 1), issuedBootTime: 1, boot: [UInt8](repeating: 0, count: 16),
      length: 60_000,
      mostUses: 1, session: session ? [UInt8](repeating: 5, count: 32) : nil)
  }

  /// How an item is guarded.
  struct Guarding: CustomTestStringConvertible, Sendable {
    var mode: PINMode?
    var session: Bool?
    var constraints: Constraints = []

    var testDescription: String {
      "\(mode.map { "\($0)" } ?? "no PIN"), session \(session ?? false), \(constraints.rawValue)"
    }

    var kind: ItemKind { session == nil ? .otp : .cardToken }
    /// Whether anything besides the class key opens the item.
    var isWrapped: Bool { mode == .checked || session == true || !constraints.isEmpty }

    static let all: [Guarding] = [
      Guarding(mode: .checked), Guarding(mode: .camouflaged), Guarding(session: false),
      Guarding(session: true),
      Guarding(mode: .checked, constraints: .devicePasscode),
      Guarding(mode: .checked, constraints: .applicationPassword),
      Guarding(mode: .checked, constraints: [.devicePasscode, .applicationPassword]),
      Guarding(mode: .camouflaged, constraints: .devicePasscode),
      Guarding(session: true, constraints: [.devicePasscode, .applicationPassword]),
    ]

    func new() throws(VaultError) -> NewItem {
      var new = NewItem(kind, name: "n", access: try AccessControl(constraints))
      new.guardingPIN = mode.map { GuardingPIN($0, item: FurtherSecretsTests.pin) }
      new.tokenLife = session.map { FurtherSecretsTests.life(session: $0) }
      return new
    }

    /// The component with everything that the policy requires, or with another PIN and another session.
    func component(right: Bool = true) -> Component {
      let obtained: Component.ObtainedPIN? =
        switch mode {
        case .checked?: .checked(FurtherSecretsTests.secret(right ? 1 : 2))
        case .camouflaged?: .camouflaged
        default: nil
        }
      return Component(
        kind, pin: obtained, session: session == true ? FurtherSecretsTests.secret(right ? 3 : 4) : nil)
    }
  }

  private func context() throws(VaultError) -> AuthenticationContext {
    try ConstraintTable.Shown([.passcode, .password]).context()
  }

  @Test("they open with everything that the policy requires, and with nothing less", arguments: Guarding.all)
  func opening(guarding: Guarding) throws {
    let place = TemporaryVault()
    let core = try makeCore(place)
    let id = try core.add(
      guarding.new(), secret: SecretBytes(testing: "s"), by: guarding.component(), context: context()
    ).id
    for core in [core, try place.openCore()] {
      let found = try core.secret(of: id, by: guarding.component(), context: context())
      expect(found.bytesForTesting, equals: Array("s".utf8))
      let bare = thrown { () throws(VaultError) in
        _ = try core.secret(of: id, by: Component(guarding.kind), context: context())
      }?.code
      let needsMore = guarding.mode != nil || guarding.session == true
      #expect(bare == (needsMore ? .verificationNeeded : nil))
      expect(.policy) { () throws(VaultError) in _ = try core.secret(of: id, context: context()) }
      if guarding.mode == .checked || guarding.session == true {
        let wrong = thrown { () throws(VaultError) in
          _ = try core.secret(of: id, by: guarding.component(right: false), context: context())
        }
        #expect(wrong != nil)
      }
    }
    try expect(core.verify().problems, equals: [])
    try core.rotateEpoch(passcode: Passcode(testing: "passcode"))
    let later = try core.secret(of: id, by: guarding.component(), context: context())
    expect(later.bytesForTesting, equals: Array("s".utf8))
    let report = try core.verify()
    #expect(report.problems == [] && report.guardedSecrets == (guarding.isWrapped ? 1 : 0))
  }

  @Test("a secret behind a checked PIN or a session is replaced with what opens it", arguments: Guarding.all)
  func replacing(guarding: Guarding) throws {
    let core = try makeCore()
    let component = guarding.component()
    let id = try core.add(
      guarding.new(), secret: SecretBytes(testing: "s"), by: component, context: context()
    ).id
    let code = thrown { () throws(VaultError) in
      try core.update(id, ItemChanges(), secret: SecretBytes(testing: "t"), by: component, context: context())
    }?.code
    // One secret is masked once in its life.
    #expect(code == (guarding.mode == .camouflaged ? .policy : nil))
    let found = try core.secret(of: id, by: component, context: context())
    expect(found.bytesForTesting, equals: Array((code == nil ? "t" : "s").utf8))
    var changes = ItemChanges()
    changes.audit = .all
    if guarding.isWrapped, guarding.mode == .checked || guarding.session == true {
      expect(.verificationNeeded) { () throws(VaultError) in
        try core.update(id, changes, context: context())
      }
    }
    try expect(core.update(id, changes, by: component, context: context()).audit, equals: .all)
    try expect(core.secret(of: id, by: component, context: context()).byteCount, equals: 1)
    try expect(core.verify().problems, equals: [])
  }

  @Test("it is renamed and deleted without the PIN and the session", arguments: Guarding.all)
  func renaming(guarding: Guarding) throws {
    let core = try makeCore()
    let id = try core.add(
      guarding.new(), secret: SecretBytes(testing: "s"), by: guarding.component(), context: context()
    ).id
    var changes = ItemChanges()
    changes.attributes[.name] = "other"
    try core.update(id, changes, context: context())
    let found = try core.secret(of: id, by: guarding.component(), context: context())
    expect(found.bytesForTesting, equals: Array("s".utf8))
    try core.delete(id)
  }

  @Test(
    "it is not added without what its policy requires",
    arguments: Guarding.all.filter { $0.mode != nil || $0.session == true })
  func adding(guarding: Guarding) throws {
    let core = try makeCore()
    expect(.verificationNeeded) { () throws(VaultError) in
      _ = try core.add(
        guarding.new(), secret: SecretBytes(testing: "s"), by: Component(guarding.kind), context: context())
    }
  }

  @Test("a PIN or a life belongs to certain kinds; an item of another kind is neither added nor opened")
  func otherKinds() throws {
    let core = try TemporaryVault().makeCore()
    for kind in [ItemKind.genericPassword, .pin, .biokey, .cardToken, .tokenSet] {
      var new = NewItem(kind)
      new.guardingPIN = GuardingPIN(.camouflaged, item: Self.pin)
      expect(.unsupported) { () throws(VaultError) in
        _ = try core.add(new, secret: SecretBytes(testing: "s"), by: Component(kind, pin: .camouflaged))
      }
    }
    for kind in [ItemKind.genericPassword, .otp, .pin, .transaction] {
      var new = NewItem(kind)
      new.tokenLife = Self.life(session: false)
      expect(.unsupported) { () throws(VaultError) in
        _ = try core.add(new, secret: SecretBytes(testing: "s"), by: Component(kind))
      }
    }
  }
}
