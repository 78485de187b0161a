import AuthenticatorKit
import Foundation
import PasswordDerivation
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultCrypto
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Attacks on the device key and the passcode", .bounded)
struct AttackKeyTests {
  @Test("a making that fails at any draw leaves nothing, or a whole vault with its key")
  func failedMaking() throws {
    var hasSucceeded = false
    for draws in 0..<80 where !hasSucceeded {
      let random = FailingRandom()
      let place = TemporaryVault(environment: .testing(random: random))
      random.fail(after: draws)
      hasSucceeded = (try? place.makeCore(passcode: "p", recovery: true)) != nil
      random.heal()
      let state = try? FileManager.default.subpathsOfDirectory(atPath: place.folder + "/state")
      let hasKey = state?.contains { $0.hasSuffix(".key") } ?? false
      expect(hasKey, equals: FileManager.default.fileExists(atPath: place.path), "after \(draws) draws")
      if hasKey { _ = try place.openCore() }
    }
    #expect(hasSucceeded)
  }

  @Test("a device key is never put into the vault's directory, whichever name leads there")
  func keyBesideVault() throws {
    let place = TemporaryVault()
    let folder = place.folder + "/data"
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try FileManager.default.createSymbolicLink(atPath: place.folder + "/link", withDestinationPath: folder)
    for protector in [
      FileProtector(file: folder + "/my.key"), FileProtector(file: place.folder + "/link/my.key"),
      FileProtector(file: folder + "/../data/./my.key"), FileProtector(folder: folder),
      FileProtector(folder: place.folder + "/link/"),
    ] {
      expect(.policy) { () throws(VaultError) in
        _ = try VaultCore.create(at: place.path, protector: protector, environment: place.environment)
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
    }
    _ = try VaultCore.create(
      at: place.path, protector: FileProtector(file: place.folder + "/keys/my.key"),
      environment: place.environment)
  }

  @Test(
    "a derivation that cannot run does not count as a failure, because it says nothing about the passcode")
  func impossibleDerivation() throws {
    let clock = FixedClock()
    let place = TemporaryVault(environment: .testing(clock: clock))
    let core = try place.makeCore(passcode: "right")
    var strict = place.environment
    strict.bounds.floor.memoryKiB = 128
    let other = try VaultCore.open(at: place.path, protector: place.protector, environment: strict)
    for _ in 0..<8 {
      expect(.policy) { () throws(VaultError) in try other.unlock(with: Passcode(testing: "right")) }
      clock.advance(by: .seconds(20))
    }
    try expect(core.status().passcodeFailures, equals: 0)
    try core.unlock(with: Passcode(testing: "right"))
  }
}

/// What a rotation does to keys in files.
@Suite("Attacks on the rotation of the device key", .bounded)
struct AttackRotationTests {
  @Test("a second vault is not made with the key file of a first one, whose key would be overwritten later")
  func sharedFile() throws {
    let place = TemporaryVault()
    let named = FileProtector(file: place.folder + "/my.key")
    let first = try VaultCore.create(at: place.path, protector: named, environment: place.environment)
    expect(.vaultExists) { () throws(VaultError) in
      _ = try VaultCore.create(
        at: place.folder + "/other/b.vault", protector: named, environment: place.environment)
    }
    let other = try place.makeSecond()
    try other.core.rotateDeviceKey(to: named)
    try other.core.rotateDeviceKey(to: named)
    _ = try VaultCore.open(at: other.path, protector: named, environment: place.environment)
    _ = try VaultCore.open(at: place.path, protector: named, environment: place.environment)
    #expect(first.isUnlocked)
  }

  @Test("of two rotations at once the one that comes late does not put its key in place of the newer")
  func lateRotation() throws {
    let place = TemporaryVault()
    let file = place.folder + "/my.key"
    let named = FileProtector(file: file)
    let core = try VaultCore.create(at: place.path, protector: named, environment: place.environment)
    let status = try core.status()
    // The late one has flipped to a key that waits beside the file, and sleeps.
    let late = try DeviceKey(SecretBytes(copying: [UInt8](repeating: 1, count: 32)))
    try named.storeKey(late, of: status.vault)
    try core.rotateDeviceKey()
    try named.promoteKey(late.id, replacing: status.deviceKey, of: status.vault)
    try named.deleteKey(status.deviceKey, of: status.vault)
    _ = try VaultCore.open(at: place.path, protector: named, environment: place.environment)
  }

  @Test("a rotation that fails at any draw leaves a vault that opens", arguments: [nil, "p"])
  func failedRotation(passcode: String?) throws {
    let random = FailingRandom()
    let place = TemporaryVault(environment: .testing(random: random))
    let core = try place.makeCore(passcode: passcode)
    let item = try core.add(NewItem(.otp, name: "n"), secret: SecretBytes(testing: "s"), by: Component(.otp))
    var isDone = false
    // Each attempt adds to the log, whose entries take a draw each.
    for draws in Array(0..<80) + stride(from: 80, to: 6_000, by: 60) where !isDone {
      random.fail(after: draws)
      let typed = try passcode.map { text throws(VaultError) in try Passcode(testing: text) }
      isDone = (try? core.purge(passcode: typed)) != nil
      random.heal()
      let again = try place.openCore()
      if let passcode { try again.unlock(with: Passcode(testing: passcode)) }
      try expect(again.secret(of: item.id, by: Component(.otp)).byteCount, equals: 1)
      try expect(again.verify().problems, equals: [])
    }
    #expect(isDone)
  }
}

extension TemporaryVault {
  struct Second {
    let core: VaultCore
    let path: String
  }

  /// Another vault beside this one, with its key in the usual place.
  func makeSecond() throws -> Second {
    let path = folder + "/second/b.vault"
    return Second(
      core: try VaultCore.create(at: path, protector: protector, environment: environment), path: path)
  }
}

/// The system's randomness, until it fails.
final class FailingRandom: RandomSource {
  private let left = Mutex<Int?>(nil)

  func fail(after draws: Int) { left.withLock { $0 = draws } }
  func heal() { left.withLock { $0 = nil } }

  func fill(_ bytes: UnsafeMutableRawBufferPointer) throws(CryptoError) {
    let mayDraw = left.withLock { left in
      guard let count = left else { return true }
      left = count - 1
      return count > 0
    }
    guard mayDraw else { throw .randomUnavailable }
    try unsafe SystemRandom().fill(bytes)
  }
}
