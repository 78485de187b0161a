import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// Every combination of the seven flags in a vault with and without a passcode, with and without a member.
@Suite("Constraints", .bounded)
struct ConstraintsTests {
  // Fails when `check()` forgets the rule of presence.
  @Test("a rule that contradicts itself is refused when it is made, every other one is not")
  func legality() throws {
    var legal = 0
    for number in 0..<128 {
      let constraints = ConstraintTable.combination(number)
      do throws(VaultError) {
        _ = try AccessControl(constraints)
        #expect(ConstraintTable.isLegal(constraints), "\(number) was allowed")
        legal += 1
      } catch {
        #expect(!ConstraintTable.isLegal(constraints), "\(number) was refused")
        expect(error.code, equals: .policy)
      }
    }
    // By hand: none; P; A; S; D; AD, SD, each bare, with and, with or: 1 + 4 + 6, all with and without the password.
    expect(legal, equals: 22)
    expect(.policy) { () throws(VaultError) in _ = try AccessControl(Constraints(rawValue: 0x4000_0000)) }
  }

  /// A vault of one row of the table.
  struct World {
    let hasPasscode: Bool
    let hasMember: Bool
    let place = TemporaryVault()

    static let all = [
      World(hasPasscode: false, hasMember: false), World(hasPasscode: true, hasMember: false),
      World(hasPasscode: true, hasMember: true),
    ]

    func make() throws -> VaultCore {
      let core = try place.makeCore(passcode: hasPasscode ? "passcode" : nil)
      if hasMember {
        _ = try core.enroll(
          BiometricPhrase(testing: "phrase"), named: "voice", passcode: Passcode(testing: "passcode"))
      }
      return core
    }
  }

  typealias Shown = ConstraintTable.Shown

  /// Whether an item of this rule can be added at all.
  static func isPossible(_ constraints: Constraints, _ world: World) -> Bool {
    ConstraintTable.isPossible(
      constraints, hasPasscode: world.hasPasscode, hasBiometry: world.hasMember)
  }

  // Fails when the password is left out of a wrapping key, when `or` makes one alternative, when the gate opens `any` by
  // the passcode, or when an unlocked session is enough.
  @Test("what the document allows is added and opens by exactly what its rule says", arguments: 0..<3)
  func table(_ row: Int) throws {
    let world = World.all[row]
    let core = try world.make()
    for number in 0..<128 {
      let constraints = ConstraintTable.combination(number)
      guard ConstraintTable.isLegal(constraints) else { continue }
      for accessibility in Accessibility.allCases {
        if accessibility == .whenPasscodeSet, !world.hasPasscode { continue }
        try check(constraints, accessibility, number, world, core)
      }
    }
    try expect(core.verify().problems, equals: [])
  }

  private func check(
    _ constraints: Constraints, _ accessibility: Accessibility, _ number: Int, _ world: World,
    _ core: VaultCore
  ) throws {
    let access = try AccessControl(constraints, accessibility: accessibility)
    let new = NewItem(.genericPassword, name: "\(number) \(accessibility)", access: access)
    let item: Item
    do throws(VaultError) {
      item = try core.add(
        new, secret: SecretBytes(testing: "s\(number)"), context: try Shown.password.context())
      #expect(Self.isPossible(constraints, world), "\(number) was added")
    } catch {
      #expect(!Self.isPossible(constraints, world), "\(number) was refused: \(error)")
      expect(error.code, equals: .policy)
      return
    }
    for bits in 0..<8 {
      let shown = Shown(rawValue: bits)
      if shown.contains(.passcode), !world.hasPasscode { continue }
      if shown.contains(.member), !world.hasMember { continue }
      let isRight = shown.opens(constraints)
      do throws(VaultError) {
        let secret = try core.secret(of: item.id, context: try shown.context())
        #expect(isRight, "\(number) opened by \(shown)")
        expect(secret.bytesForTesting, equals: Array("s\(number)".utf8))
      } catch {
        #expect(!isRight, "\(number) not opened by \(shown): \(error)")
        #expect(error.code == .interactionNotAllowed || error.code == .policy, "\(error)")
      }
    }
    let wrong = try core.secret(failing: item.id, with: Self.wrongContext())
    #expect(constraints.isEmpty ? wrong == nil : wrong != nil, "\(number) opened by what is wrong")
  }

  private static func wrongContext() throws -> AuthenticationContext {
    // No wrong passcode: five of them would lock this test out.
    let context = AuthenticationContext(reason: "a test", interaction: .notAllowed)
    context.provide(try ApplicationPassword(testing: "wrong"))
    return context
  }

  @Test("what makes a constraint hold is said, by what the vault has")
  func enforcement() throws {
    let all: [Constraints] = [
      .devicePasscode, .userPresence, .biometryAny, .biometryCurrentSet, .applicationPassword,
    ]
    let phrases = VerificationSources(hasPasscode: true, hasPhrases: true)
    var fingers = phrases
    fingers.hasFingers = true
    for constraint in all {
      let access = try AccessControl(constraint)
      expect(access.enforcement(with: phrases).map(\.enforcement), equals: [.keyDerivation])
      let isKey = constraint == .devicePasscode || constraint == .applicationPassword
      #expect((access.enforcement(with: fingers).first?.enforcement == .keyDerivation) == isKey)
    }
    #expect(AccessControl().enforcement(with: phrases).isEmpty)
    let both = try AccessControl([.devicePasscode, .biometryAny, .or]).enforcement(with: fingers)
    expect(both.map(\.constraint), equals: [.devicePasscode, .biometryAny])
  }
}

extension ConstraintTable.Shown {
  /// A context that was given all of it in advance: the member is a phrase.
  func context() throws(VaultError) -> AuthenticationContext {
    let context = AuthenticationContext(reason: "a test", interaction: .notAllowed)
    if contains(.passcode) { context.provide(try Passcode(testing: "passcode")) }
    if contains(.member) { context.provide(try BiometricPhrase(testing: "phrase")) }
    if contains(.password) { context.provide(try ApplicationPassword(testing: "password")) }
    return context
  }
}

extension VaultCore {
  /// The code that reading a secret fails with, or `nil`.
  func secret(failing id: ItemID, with context: AuthenticationContext?) throws -> VaultError.Code? {
    thrown { () throws(VaultError) in _ = try secret(of: id, context: context) }?.code
  }
}
