import Foundation
import PasswordDerivation
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultStorage
import VaultTestKit

/// Verified to fail when a cheap derivation, or a replaced random source, is not noted at the creation, in a change of
/// keys or in another commit; when one of the ways to the keys does not look at field 17; and when the field is not
/// under the MAC of the header.
@Suite("Vaults of tests (header field 17)", .bounded, .requirement("L2"))
struct VaultOfTestTests {
  enum Reason: UInt8, CaseIterable {
    case cheapDerivation = 1
    case predictableRandom = 2
    case both = 3

    var environment: VaultEnvironment {
      switch self {
      case .cheapDerivation: .testing()
      case .predictableRandom: VaultEnvironment(random: SeededRandom(seed: 1).source)
      case .both: .testing(random: SeededRandom(seed: 1).source)
      }
    }
  }

  @Test("a vault says why it protects nothing, whatever happens to its keys", arguments: Reason.allCases)
  func keeps(reason: Reason) throws {
    let place = TemporaryVault(environment: reason.environment)
    let core = try place.makeCore()
    try expect(mark(of: place), equals: [reason.rawValue])
    try core.setPasscode(Passcode(testing: "one"))
    try expect(mark(of: place), equals: [reason.rawValue])
    try core.changePasscode(from: Passcode(testing: "one"), to: Passcode(testing: "two"))
    try core.rotateDeviceKey()
    try core.rotateEpoch(passcode: Passcode(testing: "two"))
    try expect(mark(of: place), equals: [reason.rawValue])
    _ = try core.removePasscode(Passcode(testing: "two"))
    try expect(mark(of: place), equals: [reason.rawValue])
    let backup = try backUp(core, of: place)
    try expect(mark(at: backup), equals: [reason.rawValue])
    let path = place.folder + "/data/restored.vault"
    _ = try VaultCore.restore(
      from: backup, passphrase: Passcode(testing: "p"), to: path, protector: other(place),
      environment: place.environment)
    try expect(mark(at: path), equals: [reason.rawValue])
  }

  @Test("an ordinary vault and its backup have no such mark")
  func ordinary() throws {
    let place = TemporaryVault(environment: .system)
    let core = try place.makeCore()
    _ = try core.add(NewItem(.genericPassword, name: "n"), secret: SecretBytes(testing: "s"))
    try core.rotateEpoch()
    #expect(try mark(of: place) == nil)
    #expect(try mark(at: backUp(core, of: place)) == nil)
  }

  @Test("outside of a test no way to the keys is open, and nothing is written", arguments: Reason.allCases)
  func refused(reason: Reason) throws {
    let place = TemporaryVault(environment: reason.environment)
    let core = try place.makeCore()
    let code = try core.makeRecoveryCode()
    let backup = try backUp(core, of: place)
    let point = try core.restorePoint()
    let before = try files(of: place)
    expect(.policy) { () throws(VaultError) in
      _ = try VaultCore.open(at: place.path, protector: place.protector)
    }
    expect(.policy) { () throws(VaultError) in
      _ = try VaultCore.recover(at: place.path, with: code, protector: place.protector)
    }
    expect(.policy) { () throws(VaultError) in try VaultCore.checkRecoveryCode(code, at: place.path) }
    let passphrase = { () throws(VaultError) in try Passcode(testing: "p") }
    expect(.policy) { () throws(VaultError) in
      _ = try VaultCore.restore(
        from: backup, passphrase: passphrase(), to: place.folder + "/data/c.vault", protector: other(place))
    }
    expect(.policy) { () throws(VaultError) in
      _ = try VaultCore.losses(
        byRestoring: BackupFile(reading: backup, beside: backup), passphrase: passphrase(), over: point)
    }
    try expect(files(of: place), equals: before)
  }

  @Test("the error names the reasons and says what to do")
  func words() throws {
    let place = TemporaryVault(environment: Reason.both.environment)
    _ = try place.makeCore()
    let error = thrown { () throws(VaultError) in
      _ = try VaultCore.open(at: place.path, protector: place.protector)
    }
    #expect(error?.message.contains("a cheap key derivation and predictable random numbers") == true)
    expect(error?.advice, equals: .createRealVault)
  }

  @Test("the public calls refuse a vault of a test")
  func publicCalls() async throws {
    let place = TemporaryVault()
    _ = try place.make()
    await expect(.policy) { _ = try await Vault.open(at: VaultPath(place.path), protector: place.protector) }
  }

  @Test("a program that is open refuses to go on when a test has changed the vault")
  func takenOver() throws {
    let place = TemporaryVault(environment: .system)
    let core = try place.makeCore()
    let item = try core.add(NewItem(.genericPassword, name: "n"), secret: SecretBytes(testing: "s"))
    let test = try inTest(place, .cheapDerivation)
    try test.setPasscode(Passcode(testing: "one"))
    expect(.policy) { () throws(VaultError) in _ = try core.secret(of: item.id) }
    expect(.policy) { () throws(VaultError) in _ = try core.add(NewItem(.genericPassword, name: "m")) }
    test.lock()
    try test.unlock(with: Passcode(testing: "one"))
    try expect(test.secret(of: item.id).bytesForTesting, equals: Array("s".utf8))
  }

  @Test(
    "the first commit of a test to an ordinary vault marks it; reading does not", arguments: Reason.allCases)
  func changed(reason: Reason) throws {
    let changes: [(VaultCore) throws -> Void] = [
      { try $0.setPasscode(Passcode(testing: "one")) },
      { _ = try $0.add(NewItem(.genericPassword, name: "n"), secret: SecretBytes(testing: "s")) },
      { try $0.rotateDeviceKey() },
      { try $0.rotateEpoch() },
    ]
    for change in changes {
      let place = TemporaryVault(environment: .system)
      _ = try place.makeCore()
      _ = try place.openCore().items(matching: Query())
      let core = try inTest(place, reason)
      _ = try core.items(matching: Query())
      #expect(try mark(of: place) == nil)
      try change(core)
      try expect(mark(of: place), equals: [reason.rawValue])
      try expect(core.verify().problems, equals: [])
      try expect(inTest(place, reason).verify().problems, equals: [])
    }
  }

  @Test("a second reason is added to the first, and both stay")
  func added() throws {
    let place = TemporaryVault(environment: Reason.predictableRandom.environment)
    _ = try place.makeCore()
    _ = try inTest(place, .cheapDerivation).add(NewItem(.genericPassword, name: "n"))
    try expect(mark(of: place), equals: [3])
    _ = try inTest(place, .predictableRandom).add(NewItem(.genericPassword, name: "m"))
    try expect(mark(of: place), equals: [3])
  }

  @Test("without the keys the mark cannot be removed or changed", arguments: [nil, [2]] as [[UInt8]?])
  func authenticated(mark: [UInt8]?) throws {
    let place = TemporaryVault()
    _ = try place.makeCore()
    try Intruder(place: place).tamper { store throws(StorageError) in
      let row = try store.header()
      guard var header = try? Record(decoding: row.body) else { return }
      header[17] = mark
      try store.setHeader(HeaderRow(body: header.encoded, mac: row.mac))
    }
    expect(.damaged) { () throws(VaultError) in _ = try place.openCore() }
    expect(mark == nil ? .damaged : .policy) { () throws(VaultError) in
      _ = try VaultCore.open(at: place.path, protector: place.protector)
    }
  }

  @Test("a mark that is malformed is damage", arguments: [[], [0], [4], [0, 1]] as [[UInt8]])
  func malformed(mark: [UInt8]) throws {
    let place = TemporaryVault()
    _ = try place.makeCore()
    try Intruder(place: place).changeHeader { $0[17] = mark }
    expect(.damaged) { () throws(VaultError) in _ = try place.openCore() }
    expect(.damaged) { () throws(VaultError) in
      _ = try VaultCore.open(at: place.path, protector: place.protector)
    }
  }

  private func inTest(_ place: TemporaryVault, _ reason: Reason) throws(VaultError) -> VaultCore {
    try VaultCore.open(at: place.path, protector: place.protector, environment: reason.environment)
  }

  /// The least that an ordinary passphrase may cost.
  private func backUp(_ core: VaultCore, of place: TemporaryVault) throws -> String {
    let path = place.folder + "/data/b.backup"
    _ = try core.backUp(
      to: path, passphrase: Passcode(testing: "p"), parameters: core.environment.bounds.floor)
    return path
  }

  private func other(_ place: TemporaryVault) -> FileProtector {
    FileProtector(folder: place.folder + "/other")
  }

  private func mark(of place: TemporaryVault) throws -> [UInt8]? { try mark(at: place.path) }

  private func mark(at path: String) throws -> [UInt8]? {
    var store = try Store.open(at: path, access: .readOnly)
    return try Record(decoding: store.header().body)[17]
  }

  /// Every file of the place with what it holds, except what SQLite keeps beside a vault that is open.
  private func files(of place: TemporaryVault) throws -> [String: Data] {
    let names = try FileManager.default.subpathsOfDirectory(atPath: place.folder)
    var contents: [String: Data] = [:]
    for name in names where !name.hasSuffix("-shm") {
      contents[name] = FileManager.default.contents(atPath: place.folder + "/" + name)
    }
    return contents
  }
}
