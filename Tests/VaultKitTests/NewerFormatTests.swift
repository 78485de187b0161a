import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultStorage
import VaultTestKit

/// R20, the other way round: a program that is older than the vault. Fails when field 1, 5 or 6 of the header, or the
/// database's `user_version`, is not compared.
@Suite("Vaults of a later version", .bounded, .requirement("R20"))
struct NewerFormatTests {
  @Test(
    "a later format, a seal this version has not, a feature that it must not ignore: refused, and said so",
    arguments: [1, 5, 6, 0])
  func newer(field: Int) throws {
    let place = TemporaryVault()
    do {
      let core = try place.makeCore()
      _ = try core.add(NewItem(.genericPassword, name: "n"), secret: SecretBytes(testing: "s"))
    }
    if field == 0 {
      try RawSQLite.run("PRAGMA user_version = 2", on: place.path)
    } else {
      try Intruder(place: place).changeHeader { header in
        if field == 1 { header.set(1, u16: 2) }
        if field == 5 { header.set(5, u8: 2) }
        if field == 6 { header[6]! += [0, 0, 0, 5] }
      }
    }
    expect(.newerFormat) { () throws(VaultError) in _ = try place.openCore() }
    expect(.newerFormat) { () throws(VaultError) in _ = try VaultCore.outline(at: place.path) }
  }

  /// Verified to fail on commit b5afbda, whose own vaults lack required feature 1, on commit 963e44e, whose vaults lack
  /// 2, on commit ebe6282, whose vaults lack 3, and when an empty list is accepted.
  @Test(
    "made before the first release: refused, with the way out",
    arguments: [
      [], [0, 0, 0, 2, 0, 0, 0, 3], [0, 0, 0, 1], [0, 0, 0, 1, 0, 0, 0, 3], [0, 0, 0, 1, 0, 0, 0, 2],
    ] as [[UInt8]])
  func older(features: [UInt8]) throws {
    let place = TemporaryVault()
    do { _ = try place.makeCore() }
    try Intruder(place: place).changeHeader { $0[6] = features }
    expect(.olderFormat) { () throws(VaultError) in _ = try place.openCore() }
    let error = thrown { () throws(VaultError) in _ = try VaultCore.outline(at: place.path) }
    #expect(
      error?.code == .olderFormat
        && error?.message.contains("export its items with the program that made it") == true)
    expect(error?.advice, equals: .exportWithOldProgram)
  }

  /// Verified to fail when such a table is a strange schema like any other.
  @Test("a table whose name is reserved for a later version: refused, and said so")
  func laterTable() throws {
    let place = TemporaryVault()
    do { _ = try place.makeCore() }
    try RawSQLite.run("CREATE TABLE former(x)", on: place.path)
    expect(.newerFormat) { () throws(VaultError) in _ = try place.openCore() }
    try RawSQLite.run("DROP TABLE former; CREATE VIEW former AS SELECT 1", on: place.path)
    expect(.damaged) { () throws(VaultError) in _ = try place.openCore() }
  }

  /// Verified to fail when only the numbers are compared, and not their order and the length of the list.
  @Test(
    "required features that are no packed list are damage",
    arguments: [nil, [0, 0, 0, 1, 0], [0, 0, 0, 2, 0, 0, 0, 1], [0, 0, 0, 1, 0, 0, 0, 1]] as [[UInt8]?])
  func unreadable(features: [UInt8]?) throws {
    let place = TemporaryVault()
    do { _ = try place.makeCore() }
    try Intruder(place: place).changeHeader { $0[6] = features }
    expect(.damaged) { () throws(VaultError) in _ = try place.openCore() }
  }

  @Test("a field that an old program may ignore is kept when the header is written again")
  func unknownField() throws {
    let place = TemporaryVault()
    do { _ = try place.makeCore() }
    try Intruder(place: place).changeHeader { $0[900] = [1, 2, 3] }
    let core = try place.openCore()
    try core.setPasscode(Passcode(testing: "p"))
    try core.rotateDeviceKey()
    try Intruder(place: place).changeHeader { expect($0[900], equals: [1, 2, 3]) }
  }
}
