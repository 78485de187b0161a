import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// What changes between the look at a vault and the transaction that relies on it.
@Suite("What happens meanwhile")
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
          _ = try transaction.changeState(of: id) { (state) throws(VaultError) in state.counter += 1 }
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

  /// Verified to fail when `beginEpoch` does not ask whether the vault was locked.
  @Test("a lock before the epoch begins ends the rotation, and the vault stays locked")
  func lockedBefore() throws {
    let core = try place.makeCore(passcode: "passcode")
    _ = try core.add(NewItem(.genericPassword, name: "n"), secret: SecretBytes(testing: "s"))
    let isFirst = Mutex(true)
    expect(.appCancelled) { () throws(VaultError) in
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
}
