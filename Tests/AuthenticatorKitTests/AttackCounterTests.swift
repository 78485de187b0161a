import AuthenticatorKit
import OneTimePassword
import SecretMemory
import TestSupport
import Testing
import VaultKit
import VaultTestKit

@Suite("Attacks on counters", .bounded)
struct AttackCounterTests {
  /// How an old copy of the vault file comes back.
  enum Restore: String, CaseIterable, CustomTestStringConvertible {
    case moved = "a copy moved over the file"
    case deletedFirst = "the file deleted, then copied"
    case overwritten = "copied over the file"
    var testDescription: String { rawValue }
  }

  @Test("an old copy put back gives no code that was given already", arguments: Restore.allCases)
  func restored(how: Restore) throws {
    let place = TemporaryVault()
    let uri = try OTPAuthURI(
      parsing: SecretBytes(
        testing: "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0"))
    let id = try place.makeCore().addOTP(uri, named: "n").item.id
    let copy = place.folder + "/copy"
    try run("cp", place.path, copy)
    _ = try place.openCore().nextHOTPCode(of: id)
    switch how {
    case .moved: try run("mv", copy, place.path)
    case .deletedFirst:
      try run("rm", place.path)
      try run("cp", copy, place.path)
    case .overwritten: try run("cp", copy, place.path)
    }
    try run("rm", "-f", place.path + "-wal", place.path + "-shm")
    do throws(VaultError) {
      _ = try place.openCore().nextHOTPCode(of: id)
      Issue.record("the code was given again")
    } catch { expect(error.code, equals: .outOfStep) }
    try place.openCore().setCounter(of: id, to: 5)
    try expect(place.openCore().nextHOTPCode(of: id).factor, equals: .counter(5))
    try expect(place.openCore().nextHOTPCode(of: id).factor, equals: .counter(6))
    try expect(place.openCore().verify().problems, equals: [])
  }

  @Test("steps ahead that leave the range of time are refused, not a trap")
  func farAhead() throws {
    let core = try TemporaryVault().makeCore()
    let uri = try OTPAuthURI(
      parsing: SecretBytes(testing: "otpauth://totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&period=60"))
    let id = try core.addOTP(uri, named: "n").item.id
    for steps in [Int64.max, .max / 60 + 1, .min] {
      do throws(VaultError) {
        _ = try core.timedCode(of: id, stepsAhead: steps)
        Issue.record("a code \(steps) steps ahead")
      } catch { expect(error.code, equals: .malformed) }
    }
  }
}
