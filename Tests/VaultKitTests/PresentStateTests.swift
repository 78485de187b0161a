import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// What an open vault says of itself is true of the vault as it is now, whichever process changed it last.
@Suite("The present state", .bounded)
struct PresentStateTests {
  private let place = TemporaryVault()

  enum Change: CaseIterable { case passcode, noPasscode, newEpoch, newDeviceKey }

  /// The fault: unlocked, and the next secret was locked. Verified to fail when `isUnlocked` asks the keys that were read last.
  @Test("a vault that another session locked is not unlocked", arguments: Change.allCases)
  func lockedElsewhere(change: Change) async throws {
    let vault = try place.make(passcode: "one")
    let item = try await vault.add(NewItem(.genericPassword, name: "n"), secret: SecretBytes(testing: "s"))
    let other = try place.openCore()
    switch change {
    case .passcode: try other.changePasscode(from: passcode("one"), to: passcode("two"))
    case .noPasscode: _ = try other.removePasscode(passcode("one"))
    case .newEpoch: try other.rotateEpoch(passcode: passcode("one"))
    case .newDeviceKey: try other.rotateDeviceKey()
    }
    let isUnlocked = await vault.isUnlocked
    expect(isUnlocked, equals: change == .newDeviceKey)
    let error = await thrown { () async throws(VaultError) in _ = try await vault.secret(of: item.id) }
    expect(error?.code, equals: isUnlocked ? nil : .locked)
    try await expect(vault.status().isUnlocked, equals: isUnlocked)
  }

  /// The fault: it returned, and the vault was locked. Verified to fail when `isUnlocked` asks the keys that were read last.
  @Test("unlocking a vault that another session has locked asks for the passcode")
  func unlockedAgain() throws {
    let core = try place.makeCore(passcode: "one")
    let item = try core.add(NewItem(.genericPassword, name: "n"), secret: SecretBytes(testing: "s"))
    try place.openCore().changePasscode(from: passcode("one"), to: passcode("two"))
    let prompt = ScriptedPrompt([.text("two")])
    try core.unlock(with: AuthenticationContext(reason: "test", prompt: prompt))
    expect(prompt.requests.count, equals: 1)
    try expect(core.secret(of: item.id).byteCount, equals: 1)
  }

  /// The fault: `locked`, though there was a person to ask. Verified to fail when `isUnlocked` and `hasPasscode` ask the keys that
  /// were read last.
  @Test("a person is verified by the passcode that another session has set")
  func passcodeSetElsewhere() throws {
    let core = try place.makeCore()
    try place.openCore().setPasscode(passcode("one"))
    let context = AuthenticationContext(reason: "test", prompt: ScriptedPrompt([.text("one")]))
    _ = try core.evaluate(.devicePasscode, context: context)
  }

  /// Verified to fail when they ask the keys that were read last.
  @Test("every session says what is true, whatever the others did")
  func model() throws {
    var random = SeededGenerator()
    for _ in 0..<20 {
      var model = try Sessions(random: random)
      for _ in 0..<30 { try model.step() }
      random = model.random
    }
  }
}

private func passcode(_ text: String) throws(VaultError) -> Passcode { try Passcode(testing: text) }

/// Sessions of one vault that change it in turn.
private struct Sessions {
  var random: SeededGenerator
  private let place = TemporaryVault()
  private let cores: [VaultCore]
  private let item: ItemID
  private var passcode: String?
  private var number = 0

  init(random: SeededGenerator) throws {
    self.random = random
    let first = try place.makeCore()
    item = try first.add(NewItem(.genericPassword, name: "n"), secret: SecretBytes(testing: "s")).id
    cores = [first, try place.openCore(), try place.openCore()]
  }

  /// One session changes something, then another one is asked for one thing, before anything else made it read.
  mutating func step() throws {
    let error = try change(cores.randomElement(using: &random)!)
    // A session that saw the passcode of before goes on only when it is opened again.
    expect(error ?? .locked, equals: .locked)
    let (asked, truth) = (cores.randomElement(using: &random)!, try place.openCore().status())
    switch Int.random(in: 0..<3, using: &random) {
    case 0:
      let isUnlocked = asked.isUnlocked
      let error = thrown { () throws(VaultError) in _ = try asked.secret(of: item) }
      expect(error?.code, equals: isUnlocked ? nil : .locked)
    case 1: expect(asked.hasPasscode, equals: truth.hasPasscode)
    default: expect(asked.isRotating, equals: truth.isRotating)
    }
  }

  private mutating func change(_ core: VaultCore) throws -> VaultError.Code? {
    let (old, new) = (passcode, "passcode \(number)")
    number += 1
    var next = old
    let error = thrown { () throws(VaultError) in
      switch Int.random(in: 0..<7, using: &random) {
      case 0 where old == nil:
        try core.setPasscode(Passcode(testing: new))
        next = new
      case 0:
        _ = try core.removePasscode(Passcode(testing: old!))
        next = nil
      case 1 where old != nil:
        try core.changePasscode(from: Passcode(testing: old!), to: Passcode(testing: new))
        next = new
      case 2:
        try core.rotateEpoch(passcode: old.map { (text) throws(VaultError) in try Passcode(testing: text) })
      case 3: try core.rotateDeviceKey()
      case 4: core.lock()
      case 5 where old != nil: try core.unlock(with: Passcode(testing: old!))
      default: try begin(core)
      }
    }
    passcode = next
    return error?.code
  }

  /// Begins a rotation of the epoch, or ends the one that is under way.
  private func begin(_ core: VaultCore) throws(VaultError) {
    guard try core.status().isRotating else {
      return try core.beginRotation(
        passcode: passcode.map { (text) throws(VaultError) in try Passcode(testing: text) })
    }
    while try core.continueRotation() {}
  }
}
