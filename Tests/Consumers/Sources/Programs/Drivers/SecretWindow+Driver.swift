import SecretMemory
import VaultKit

extension Driver {
  static let secretWindow = Driver(name: "SecretWindow") {
    let scene = Scene()
    let vault = try await scene.make(passcode: Passcode(SecretBytes("six random words")))
    try await vault.unlock(with: Passcode(SecretBytes("six random words")))
    let bank = NewItem(.genericPassword, name: "bank", access: try AccessControl(.userPresence))
    let item = try await vault.add(bank, secret: SecretBytes("12345"))

    let drawn = Record()
    let open = SecretWindow(vault) { _ in SecretBytes("six random words") }
    try await open.show(item) { secret in drawn.add(secret.text) }
    try expect(drawn.all == ["12345"], "the passcode shows the secret")

    let closed = SecretWindow(vault) { _ in nil }
    do {
      try await closed.show(item) { secret in drawn.add(secret.text) }
    } catch let error as VaultError where error.code == .cancelled {}
    try expect(drawn.all.count == 1, "a closed window shows nothing")
  }
}
