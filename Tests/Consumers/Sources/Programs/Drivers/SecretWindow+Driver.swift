import Dispatch
import SecretMemory
import VaultKit
import VaultTestKit

extension Driver {
  static let secretWindow = Driver(name: "SecretWindow") {
    let place = TemporaryVault()
    let vault = try place.make(passcode: "six random words")
    let bank = NewItem(.genericPassword, name: "bank", access: try AccessControl(.userPresence))
    let item = try await vault.add(bank, secret: SecretBytes(testing: "12345"))

    let drawn = Record()
    let open = SecretWindow(vault) { _ in SecretBytes(testing: "six random words") }
    try await open.show(item) { secret in drawn.add(secret.text) }
    try expect(drawn.all == ["12345"], "the passcode shows the secret")

    let closed = SecretWindow(vault) { _ in nil }
    do {
      try await closed.show(item) { secret in drawn.add(secret.text) }
    } catch let error as VaultError where error.code == .cancelled {}
    try expect(drawn.all.count == 1, "a closed window shows nothing")

    try await othersGoOn(vault, while: item)
  }

  /// The person types only after another call of the same vault has returned.
  private static func othersGoOn(_ vault: Vault, while item: Item) async throws {
    let (asked, ask) = AsyncStream<Void>.makeStream()
    let typed = DispatchSemaphore(value: 0)
    let window = SecretWindow(vault) { _ in
      ask.yield()
      return typed.wait(timeout: .now() + 60) == .success ? SecretBytes(testing: "six random words") : nil
    }
    let drawn = Record()
    async let shown: Void = window.show(item) { secret in drawn.add(secret.text) }
    for await _ in asked { break }
    try expect(try await vault.items(matching: .all).count == 1, "the window lists its items meanwhile")
    try expect(drawn.all.isEmpty, "nothing is shown before the person has typed")
    typed.signal()
    try await shown
    try expect(drawn.all == ["12345"], "the secret is shown afterwards")
  }
}
