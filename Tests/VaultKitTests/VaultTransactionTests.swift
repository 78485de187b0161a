import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Transactions of the actor", .bounded, .requirement("L7"))
struct VaultTransactionTests {
  private enum PaymentError: VaultFailure, Equatable {
    case vault(VaultError.Code)
    case limitReached
    init(vault error: VaultError) { self = .vault(error.code) }
  }

  private let place = TemporaryVault()

  @Test("a closure and the vault throw one type: VaultError, or a type of the program")
  func types() async throws {
    let vault = try place.make()
    let missing = ItemID.zero
    let code = await thrown { () async throws(VaultError) in
      _ = try await vault.read { transaction throws(VaultError) in try transaction.item(missing).name }
    }?.code
    expect(code, equals: .itemNotFound)
    func pay(_ amount: Int) async throws(PaymentError) {
      try await vault.write { transaction throws(PaymentError) in
        do throws(VaultError) { _ = try transaction.add(NewItem(.genericPassword, name: "\(amount)")) } catch
        {
          throw PaymentError(vault: error)
        }
        guard amount < 10 else { throw .limitReached }
      }
    }
    try await pay(9)
    await #expect(throws: PaymentError.limitReached) { try await pay(10) }
    await #expect(throws: PaymentError.vault(.duplicateItem)) { try await pay(9) }
    try await expect(vault.items(matching: Query()).map(\.name), equals: ["9"])
  }

  @Test("an error of the vault itself, before the closure runs, has the type of the closure")
  func ownErrors() async throws {
    let vault = try place.make()
    try RawSQLite.run("DELETE FROM head", on: place.path)
    await #expect(throws: PaymentError.vault(.damaged)) {
      try await vault.write { transaction throws(PaymentError) in throw .limitReached }
    }
  }

  @Test(
    "what is refused directly before its commit changes nothing, and a transaction without a change asks nothing"
  )
  func refusedCommit() throws {
    let core = try place.makeCore()
    // The first commit of a new file notes the file too, whatever else it does.
    _ = try core.add(NewItem(.genericPassword, name: "old"))
    var environment = place.environment
    environment.committing = { _ throws(VaultError) in throw VaultError(.appCancelled, "refused") }
    let refusing = try VaultCore.open(at: place.path, protector: place.protector, environment: environment)
    expect(.appCancelled) { () throws(VaultError) in
      _ = try refusing.add(NewItem(.genericPassword, name: "new"))
    }
    try refusing.writing { _ throws(VaultError) in }
    try expect(refusing.items(matching: Query()).map(\.name), equals: ["old"])
    _ = try core.add(NewItem(.genericPassword, name: "new"))
    try expect(refusing.items(matching: Query()).map(\.name), equals: ["old", "new"])
  }

  @Test("a secret enters a transaction without a box, and another one leaves it")
  func consuming() async throws {
    let vault = try place.make()
    let id = try await vault.add(NewItem(.genericPassword, name: "n"), secret: SecretBytes(testing: "old")).id
    let old = try await vault.write(consuming: SecretBytes(testing: "new")) {
      transaction, new throws(VaultError) in
      let old = try transaction.secret(of: id)
      try transaction.update(id, ItemChanges(), secret: new)
      return old
    }
    expect(old.bytesForTesting, equals: Array("old".utf8))
    let count = try await vault.withSecret(of: id) { $0.byteCount }
    expect(count, equals: 3)
    let same = try await vault.read { transaction throws(VaultError) in try transaction.secret(of: id) }
    expect(same.bytesForTesting, equals: Array("new".utf8))
  }

  @Test("a secret that was given to a closure which throws is not stored")
  func consumingFails() async throws {
    let vault = try place.make()
    await #expect(throws: PaymentError.limitReached) {
      try await vault.write(consuming: SecretBytes(testing: "s")) {
        transaction, secret throws(PaymentError) in
        do throws(VaultError) {
          _ = try transaction.add(NewItem(.genericPassword, name: "n"), secret: secret)
        } catch { throw PaymentError(vault: error) }
        throw .limitReached
      }
    }
    #expect(try await vault.items(matching: Query()).isEmpty)
  }

  @Test("a lent secret gives its errors with the type of the closure, and runs where the caller runs")
  func lent() async throws {
    let vault = try place.make(passcode: "1234")
    let id = try await vault.add(NewItem(.genericPassword, name: "n"), secret: SecretBytes(testing: "s")).id
    var seen = 0  // a variable of the caller
    try await vault.withSecret(of: id) { seen += $0.byteCount }
    expect(seen, equals: 1)
    await #expect(throws: PaymentError.limitReached) {
      try await vault.withSecret(of: id) { _ throws(PaymentError) in throw .limitReached }
    }
    vault.lock()
    await #expect(throws: PaymentError.vault(.locked)) {
      try await vault.withSecret(of: id) { _ throws(PaymentError) in throw .limitReached }
    }
  }
}
