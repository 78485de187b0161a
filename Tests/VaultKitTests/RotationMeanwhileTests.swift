import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// What another process, or who writes to the file, does while the epoch is rotated.
@Suite("What happens meanwhile to a rotation of the epoch", .bounded)
struct RotationMeanwhileTests {
  private let place = TemporaryVault()

  /// The attack succeeded: the rotation ended without an error, on the old keys. Verified to fail when the end does not look
  /// which keys the vault has.
  @Test(
    "one whose file is put back to a state of before does not claim success",
    arguments: [nil, "passcode"], [false, true])
  func putBack(passcode: String?, purges: Bool) throws {
    let core = try filled(passcode: passcode)
    let before = try core.status()
    try place.keepRows()
    let isDone = Atomic(false)
    let error = thrown { () throws(VaultError) in
      let progress = { [place] (progress: VerifyProgress) in
        guard progress.done > progress.total / 2, !isDone.exchange(true, ordering: .relaxed) else { return }
        #expect(throws: Never.self) { try place.putRowsBack() }
      }
      let typed = try passcode.map { (text) throws(VaultError) in try Passcode(SecretBytes(testing: text)) }
      if purges {
        try core.purge(passcode: typed, progress: progress)
      } else {
        try core.rotateEpoch(passcode: typed, progress: progress)
      }
    }
    expect(isDone.load(ordering: .relaxed), equals: true)
    expect(error?.code, equals: .busy)
    let after = try core.status()
    #expect(after.generation == 1 && after.deviceKey == before.deviceKey)
    try expect(core.verify().problems, equals: [])
  }

  /// Verified to fail when the steps ask their session whether a rotation is under way.
  @Test("the steps see a rotation that another process has begun, and one that it has ended")
  func elsewhere() throws {
    let core = try filled()
    let other = try place.openCore()
    try other.beginRotation()
    expect(.policy) { () throws(VaultError) in try core.beginRotation() }
    while try core.continueRotation() {}
    #expect(try !core.status().isRotating && core.status().generation == 2)
    try other.beginRotation()
    while try other.continueRotation() {}
    try expect(core.status().generation, equals: 3)
  }

  /// Verified to fail when the result of `beginEpoch` is not looked at.
  @Test("a step that begins at the same moment as another process takes over nothing")
  func sameMoment() throws {
    _ = try filled()
    let files = LoadingFiles(files: place.protector) { [place] in
      try place.openCore().beginRotation()
    }
    let core = try VaultCore.open(at: place.path, protector: files, environment: place.environment)
    files.arm()
    expect(.policy) { () throws(VaultError) in try core.beginRotation() }
  }

  /// The attack succeeded: the item was passed over, and the keys that it needs were removed. Verified to fail when the column
  /// alone says which rows have the old keys.
  @Test("a row whose plain generation is raised on the way keeps the old keys")
  func raisedColumn() throws {
    let core = try filled()
    try core.beginRotation()
    let item = try core.item(named: "n2")
    try RawSQLite.run("UPDATE item SET generation = 2 WHERE row = \(item.row)", on: place.path)
    expect(.damaged) { () throws(VaultError) in try core.rotateEpoch() }
    #expect(try core.status().isRotationPaused)
    try RawSQLite.run("UPDATE item SET generation = 1 WHERE row = \(item.row)", on: place.path)
    try expect(core.secret(of: item.id).byteCount, equals: 1)
    try core.rotateEpoch()
    try expect(core.secret(of: item.id).byteCount, equals: 1)
    try expect(core.verify().problems, equals: [])
  }

  /// Verified to fail when the rows are counted with the keys of one generation.
  @Test("a repair whose vault is rotated again before it counts the rows is none the worse")
  func rotatedAgain() throws {
    let first = try filled()
    let isBegun = Atomic(false)
    let files = NotingFiles(files: place.protector) { [place] in
      #expect(throws: Never.self) {
        let other = try place.openCore()
        guard try other.status().generation == 2, try !other.status().isRotating,
          !isBegun.exchange(true, ordering: .relaxed)
        else { return }
        try other.beginRotation()
      }
    }
    let core = try VaultCore.open(at: place.path, protector: files, environment: place.environment)
    try core.rotateEpoch(dropDamaged: true)
    expect(isBegun.load(ordering: .relaxed), equals: true)
    try place.openCore().rotateEpoch()
    try expect(first.secret(of: first.item(named: "n2").id).byteCount, equals: 1)
    try expect(first.verify().problems, equals: [])
    try expect(first.status().generation, equals: 3)
  }

  private func filled(passcode: String? = nil) throws -> VaultCore {
    let core = try place.makeCore(passcode: passcode)
    for number in 0..<4 {
      _ = try core.add(NewItem(.genericPassword, name: "n\(number)"), secret: SecretBytes(testing: "s"))
    }
    return core
  }
}
