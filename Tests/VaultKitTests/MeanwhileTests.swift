import AuthenticatorKit
import Foundation
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// What changes between the look at a vault and the transaction that relies on it.
@Suite("What happens meanwhile", .bounded)
struct MeanwhileTests {
  private let place = TemporaryVault()

  /// The attack succeeded: the opening raised the sequence, and the older state was not seen any more. Verified to fail when
  /// `clean` does not look whether the file is an older state.
  @Test("an opening that finishes a truncation does not hide that the file is an older state")
  func pendingTruncation() throws {
    let id: ItemID
    do {
      let core = try place.makeCore()
      var item = NewItem(.otp, name: "prover")
      (item.attributes[.otpType], item.attributes[.otpRole]) = (1, 1)
      id = try core.add(item, secret: SecretBytes(testing: "12345678901234567890"), by: Component(.otp)).id
      let junk = try core.add(NewItem(.genericPassword, name: "junk"), secret: SecretBytes(testing: "x")).id
      // A reader holds the truncation up.
      try place.openCore().read { _ in
        try core.delete(junk)
        try place.keepRows()
        try core.write { transaction in
          _ = try transaction.changeState(of: id) { state in state.counter += 1 }
        }
      }
    }
    try place.putRowsBack()
    let late = try place.openCore()
    #expect(late.checkedAsCopy != nil)
    _ = try late.add(NewItem(.genericPassword, name: "late"))
    #expect(try late.read { try $0.state(of: id).needsResync })
    #expect(try late.auditEntries().contains { $0.operation == .copyDetected })
    try expect(late.verify().problems, equals: [])
  }

  /// How a session may know of the commits of another one.
  enum Known: CaseIterable {
    case byReading
    /// A transaction that changes nothing.
    case byWriting
    case byWitness
    /// Of a device key that another process made meanwhile.
    case byWitnessOfNewKey
    /// Which another process has replaced by a file with the same number.
    case byNewWitness
  }

  /// The attack succeeded: a code was given twice. Verified to fail when a session remembers only the commits that it made, when
  /// the witness is read at an opening alone, once for all rounds of a transaction, or from a file without a name, and when it
  /// does not count.
  @Test("an older state is seen that is put back under a session", arguments: Known.allCases)
  func putBack(known: Known) throws {
    let core = try place.makeCore()
    var item = NewItem(.otp, name: "prover")
    (item.attributes[.otpType], item.attributes[.otpRole]) = (1, 1)
    let id = try core.add(item, secret: SecretBytes(testing: "12345678901234567890"), by: Component(.otp)).id
    let files = place.protector
    let other = try VaultCore.open(
      at: place.path, protector: [.byReading, .byWriting].contains(known) ? Forgetful(files: files) : files,
      environment: place.environment)
    _ = try other.add(NewItem(.genericPassword, name: "early"))
    if known == .byWitnessOfNewKey { try core.rotateDeviceKey() }
    try place.keepRows()
    if known == .byNewWitness {
      let status = try core.status()
      let witness = files.path(of: status.deviceKey, status.vault) + ".seen"
      try FileManager.default.copyItem(atPath: witness, toPath: witness + ".new")
      unsafe expect(rename(witness + ".new", witness), equals: 0)
    }
    for _ in 0..<3 {
      try core.write { transaction in
        _ = try transaction.changeState(of: id) { state in state.counter += 1 }
      }
    }
    switch known {
    case .byReading: try expect(other.state(of: id).counter, equals: 3)
    case .byWriting: try other.write { _ in }
    default: break
    }
    try place.putRowsBack()
    _ = try other.add(NewItem(.genericPassword, name: "late"))
    #expect(try other.state(of: id).needsResync)
    #expect(try other.auditEntries().contains { $0.operation == .copyDetected })
    try expect(other.verify().problems, equals: [])
  }

  /// Verified to fail when `beginEpoch` does not ask whether the vault was locked.
  @Test("a lock before the epoch begins ends the rotation, and the vault stays locked")
  func lockedBefore() throws {
    let core = try place.makeCore(passcode: "passcode")
    _ = try core.add(NewItem(.genericPassword, name: "n"), secret: SecretBytes(testing: "s"))
    let isFirst = Mutex(true)
    expect(.locked) { () throws(VaultError) in
      try core.rotateEpoch(
        passcode: Passcode(testing: "passcode"),
        progress: { _ in
          let mayLock = isFirst.withLock { first in
            defer { first = false }
            return first
          }
          if mayLock { core.lock() }
        })
    }
    #expect(!core.isUnlocked && !core.isRotating)
  }

  /// A holder of the device key may know the keys of the other rotation. Verified to fail when a session asks its own keys
  /// whether a rotation is under way.
  @Test("a session that does not know of another rotation makes one of its own", arguments: [false, true])
  func begunElsewhere(purges: Bool) throws {
    let core = try place.makeCore()
    _ = try core.add(NewItem(.genericPassword, name: "a"), secret: SecretBytes(testing: "s"))
    try place.openCore().beginRotation()
    if purges { try core.purge() } else { try core.rotateEpoch(isAnew: true) }
    try expect(core.status().generation, equals: 3)
  }

  @Test("a session that believes in a rotation that has ended makes one of its own")
  func endedElsewhere() throws {
    let core = try place.makeCore()
    _ = try core.add(NewItem(.genericPassword, name: "a"), secret: SecretBytes(testing: "s"))
    try core.beginRotation()
    let other = try place.openCore()
    try core.rotateEpoch()
    try other.rotateEpoch()
    try expect(core.status().generation, equals: 3)
  }

  /// Verified to fail when a rotation asks its session who keeps the device key.
  @Test("a session that does not know of another protector leaves the device key there")
  func movedElsewhere() throws {
    let (second, other) = try sessionThatDoesNotKnow()
    try second.rotateDeviceKey()
    let status = try second.status()
    expect(status.protector, equals: .secretService)
    try expect(other.keys(of: status.vault), equals: [status.deviceKey])
  }

  /// Verified to fail when a commit asks its session who keeps the device key.
  @Test("a session that does not know of another protector notes its commits there")
  func notedElsewhere() throws {
    let (second, other) = try sessionThatDoesNotKnow()
    _ = try second.add(NewItem(.genericPassword, name: "n"))
    let status = try second.status()
    expect(other.seenCommit(under: status.deviceKey, of: status.vault)?.sequence, equals: status.sequence)
    expect(place.protector.seenCommit(under: status.deviceKey, of: status.vault), equals: nil)
  }

  /// A session of a vault whose device key another session has given to another protector since.
  private func sessionThatDoesNotKnow() throws -> (VaultCore, OtherKind) {
    let files = place.protector
    let other = OtherKind(files: FileProtector(folder: place.folder + "/other"))
    let environment = environment(with: other)
    let first = try VaultCore.create(at: place.path, protector: files, environment: environment)
    let second = try VaultCore.open(at: place.path, protector: files, environment: environment)
    try first.rotateDeviceKey(to: other)
    return (second, other)
  }

  private func environment(with other: OtherKind) -> VaultEnvironment {
    let files = place.protector
    var environment = VaultEnvironment.testing()
    environment.protector = { (kind) throws(VaultError) -> any Protector in
      if kind == .file { return files }
      return other
    }
    return environment
  }
}

/// A protector of another kind that keeps its keys in files.
private struct OtherKind: WrappedFiles {
  let files: FileProtector
  var kind: ProtectorKind { .secretService }

  func noteCommit(_ commit: SeenCommit, under key: DeviceKeyID, of vault: VaultID) {
    files.noteCommit(commit, under: key, of: vault)
  }

  func seenCommit(under key: DeviceKeyID, of vault: VaultID) -> SeenCommit? {
    files.seenCommit(under: key, of: vault)
  }
}
