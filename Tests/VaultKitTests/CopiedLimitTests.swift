import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// The limits of attempts in copies and restored vaults (docs/security/invariants.md).
@Suite("The limits of attempts in copies and restored vaults", .bounded, .requirement("R24"))
struct CopiedLimitTests {
  private let clock = FixedClock()
  private let place: TemporaryVault
  private let others: TemporaryVault
  private let core: VaultCore
  private let guarded: ItemID
  private let backup: String

  init() throws {
    place = TemporaryVault(environment: .testing(clock: clock))
    others = TemporaryVault(environment: place.environment)
    backup = place.folder + "/data/b.vault"
    guarded = try Self.fill(place, backup)
    core = try place.openCore()
  }

  /// Makes the vault, and closes it: the file has all of it then.
  private static func fill(_ place: TemporaryVault, _ backup: String) throws -> ItemID {
    let core = try place.makeCore(passcode: "passcode")
    _ = try core.enroll(
      BiometricPhrase(testing: "phrase"), named: "voice", passcode: Passcode(testing: "passcode"))
    let access = try AccessControl(.biometryAny, accessibility: .afterFirstUnlock)
    let item = try core.add(
      NewItem(.genericPassword, name: "guarded", access: access), secret: SecretBytes(testing: "secret"))
    _ = try core.backUp(to: backup, passphrase: Passcode(testing: "long phrase"))
    return item.id
  }

  private func read(_ core: VaultCore, by phrase: String) throws(VaultError) {
    let context = AuthenticationContext(reason: "")
    context.provide(try BiometricPhrase(testing: phrase))
    _ = try core.secret(of: guarded, context: context)
  }

  private func restored(_ number: Int = 0) throws -> VaultCore {
    try VaultCore.restore(
      from: backup, passphrase: Passcode(testing: "long phrase"),
      to: others.folder + "/data/\(number).vault", protector: others.protector,
      environment: place.environment
    ).core
  }

  /// Verified to fail when the restore does not lock biometry.
  @Test("a restored vault waits a minute for its passcode, and judges no phrase before it")
  func delay() throws {
    let copy = try restored()
    expect(.biometryLocked) { () throws(VaultError) in try read(copy, by: "phrase") }
    expect(.passcodeDelay) { () throws(VaultError) in try copy.unlock(with: Passcode(testing: "passcode")) }
    clock.advance(by: .seconds(59))
    expect(.passcodeDelay) { () throws(VaultError) in try copy.unlock(with: Passcode(testing: "passcode")) }
    clock.advance(by: .seconds(1))
    try copy.unlock(with: Passcode(testing: "passcode"))
    copy.lock()
    try read(copy, by: "phrase")
    try expect(copy.status().passcodeFailures, equals: 0)
  }

  /// Verified to fail when the failures begin with five whatever the backup has.
  @Test("the failures of the passcode travel in the backup")
  func failures() throws {
    let open = try place.openCore()
    try open.unlock(with: Passcode(testing: "passcode"))
    for _ in 0..<6 {
      clock.advance(by: .seconds(2000))
      expect(.authenticationFailed) { () throws(VaultError) in
        try core.unlock(with: Passcode(testing: "wrong"))
      }
    }
    let file = place.folder + "/data/late.vault"
    _ = try open.backUp(to: file, passphrase: Passcode(testing: "long phrase"))
    let target = TemporaryVault(environment: place.environment)
    let report = try VaultCore.restore(
      from: file, passphrase: Passcode(testing: "long phrase"), to: target.path, protector: target.protector,
      environment: place.environment
    ).report
    expect(report.passcodeDelay, equals: .seconds(300))
  }

  /// Verified to fail when the commit that finds the copy does not lock biometry.
  @Test("a copy of the file judges no phrase before the passcode")
  func copiedFile() throws {
    let copy = place.folder + "/data/copy.vault"
    try FileManager.default.copyItem(atPath: place.path, toPath: copy)
    let core = try VaultCore.open(at: copy, protector: place.protector, environment: place.environment)
    for phrase in ["wrong", "phrase"] {
      expect(.biometryLocked) { () throws(VaultError) in try read(core, by: phrase) }
    }
    try core.unlock(with: Passcode(testing: "passcode"))
    try read(core, by: "phrase")
  }

  /// An attacker at random: copies, restored vaults, wrong phrases and passcodes, time that passes. Over all of them together, at
  /// most five phrases are judged, and no restored vault judges a passcode before its minute has passed.
  ///
  /// Verified to fail when neither restored vaults nor copies lock biometry.
  @Test("no sequence of copies and restored vaults judges a sixth phrase")
  func model() throws {
    let random = SeededRandom(seed: SeededGenerator.seedOfRun)
    var vaults: [(core: VaultCore, notBefore: UInt64)] = [(core, 0)]
    var judged = 0
    for _ in 0..<2 {
      expect(.authenticationFailed) { () throws(VaultError) in try read(core, by: "wrong") }
      judged += 1
    }
    for step in 0..<60 {
      let vault = vaults[random.below(vaults.count)]
      switch random.below(6) {
      case 0 where vaults.count < 9:
        vaults.append((try restored(step), clock.bootMilliseconds() + 60_000))
      case 1 where vaults.count < 9:
        let copy = place.folder + "/data/copy-\(step).vault"
        try FileManager.default.copyItem(atPath: place.path, toPath: copy)
        vaults.append(
          (try VaultCore.open(at: copy, protector: place.protector, environment: place.environment), 0))
      case 2: clock.advance(by: .seconds(random.below(50)))
      case 3:
        let error = thrown { () throws(VaultError) in
          try vault.core.unlock(with: Passcode(testing: "wrong"))
        }
        #expect(error?.code == .passcodeDelay || clock.bootMilliseconds() >= vault.notBefore)
      default:
        let error = thrown { () throws(VaultError) in try read(vault.core, by: "wrong") }
        judged += error?.code == .authenticationFailed ? 1 : 0
      }
    }
    #expect(2...5 ~= judged, "\(judged) phrases were judged")
  }
}
