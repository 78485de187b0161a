import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// A backup whose log was altered is refused before anything is made of it. Who has the file alone can alter these rows,
/// because only the empty segment's anchor is sealed.
///
/// Verified to fail, each of them, when `openBackup` does not look at the log.
@Suite("An altered log of a backup", .bounded)
struct BackupLogTests {
  @Test(
    "is refused, and nothing is made",
    arguments: [
      "UPDATE segment SET start = x'00'", "UPDATE segment SET previous = zeroblob(32)",
      "UPDATE segment SET first = first + 1", "UPDATE segment SET number = number + 1", "DELETE FROM segment",
      "INSERT INTO segment SELECT number + 1, first, previous, start FROM segment",
      "INSERT INTO segment SELECT number - 1, first, previous, start FROM segment",
      "INSERT INTO audit SELECT first, zeroblob(200), zeroblob(32) FROM segment",
      "INSERT INTO audit SELECT first - 1, zeroblob(200), zeroblob(32) FROM segment",
    ], [nil, "passcode"])
  func refused(change: String, passcode: String?) throws {
    let place = TemporaryVault()
    let core = try place.makeCore(passcode: passcode)
    let file = place.folder + "/backup.vault"
    let phrase = { () throws(VaultError) in try Passcode(testing: "passphrase") }
    _ = try core.backUp(to: file, passphrase: phrase())
    try RawSQLite.run(change, on: file)
    let path = place.folder + "/new/v.vault"
    let keys = try core.deviceKeys(in: place.protector).count
    expect(.damaged) { () throws(VaultError) in
      _ = try VaultCore.restore(
        from: file, passphrase: phrase(), to: path, protector: place.protector, environment: place.environment
      )
    }
    expect(.vaultMissing) { () throws(VaultError) in _ = try VaultCore.outline(at: path) }
    try expect(core.deviceKeys(in: place.protector).count, equals: keys)
  }
}
