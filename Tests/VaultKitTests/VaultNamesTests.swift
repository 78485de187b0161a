import Foundation
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("The names of vault files", .bounded)
struct VaultNamesTests {
  // S6. Verified to fail when the exchange does not look for a log, and the file takes its place without its last
  // commit.
  @Test(
    "a restored vault with a log beside it does not take the place", .requirement("S6"),
    arguments: ["-wal", "-shm", "-journal"])
  func log(suffix: String) throws {
    let place = TemporaryVault()
    let (old, new) = (place.folder + "/old", place.folder + "/new")
    for (path, text) in [(old, "old"), (new, "new"), (new + suffix, "")] {
      try text.write(toFile: path, atomically: false, encoding: .utf8)
    }
    expect(.io) { () throws(VaultError) in try VaultNames.exchange(old, with: new) }
    try expect(String(contentsOfFile: old, encoding: .utf8), equals: "old")
    try FileManager.default.removeItem(atPath: new + suffix)
    try VaultNames.exchange(old, with: new)
    try expect(String(contentsOfFile: old, encoding: .utf8), equals: "new")
    try expect(String(contentsOfFile: new, encoding: .utf8), equals: "old")
  }

  // Verified to fail when a refused hold closes its descriptor: the second one is then granted, because the close ended
  // the locks of the open vault.
  @Test(
    "an open vault is not held, and keeps its locks, also when this process has it open", .requirement("L6"))
  func held() throws {
    let place = TemporaryVault()
    func isFree() throws(VaultError) -> Bool {
      guard let hold = try VaultNames.Hold(vault: place.path) else { return false }
      hold.keep()
      return true
    }
    let core = try place.makeCore()
    #expect(try !isFree())
    #expect(try !isFree())
    try expect(core.status().itemCount, equals: 0)
  }
}
