import SecretMemory
import VaultKit
import VaultTestKit

extension Driver {
  static let refusalWatch = Driver(name: "RefusalWatch") {
    let place = TemporaryVault()
    let vault = try place.make(passcode: "right")
    vault.lock()
    let watch = RefusalWatch()
    watch.start()
    defer { VaultLog.stop() }
    do {
      try await vault.unlock(with: Passcode(SecretBytes(testing: "wrong")))
      throw Unexpected(what: "a wrong passcode unlocked the vault")
    } catch let error as VaultError {
      try expect(error.recovery == .startOver, "the error of a wrong passcode")
    }
    let refusals = watch.refusals
    try expect(refusals.contains { $0.contains("[VAULT_ACCESS] [WARNING]") }, "the refusal has a line")
    try expect(
      !refusals.contains { $0.contains(place.path) || $0.contains("[DEBUG]") }, "a line shows too much")
  }
}
