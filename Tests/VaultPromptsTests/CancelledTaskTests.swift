import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultPrompts
import VaultTestKit

extension OneAtATime {
  @Suite("Our prompts and tasks that end", .bounded, .requirement("L5"))
  struct CancelledTaskTests {
    private let place = TemporaryVault(environment: .testing())

    private func make() async throws -> (Vault, ItemID) {
      let vault = try place.make(passcode: "passcode")
      let item = try await vault.add(
        NewItem(.genericPassword, name: "n", access: AccessControl(.devicePasscode)),
        secret: SecretBytes(testing: "s"))
      return (vault, item.id)
    }

    private func reading(
      _ item: ItemID, of vault: Vault, at prompt: any Prompt
    ) -> Task<VaultError.Code?, Never> {
      let context = AuthenticationContext(reason: "", prompt: prompt)
      return Task {
        await thrown(awaiting: { () throws(VaultError) in
          _ = try await vault.secret(of: item, context: context)
        })?.code
      }
    }

    // Verified to fail when the prompt does not look at its request.
    @Test("a cancelled task and a locked vault take the question off the terminal", arguments: [true, false])
    func ended(byTask: Bool) async throws {
      let (vault, item) = try await make()
      let screen = try PseudoTerminal()
      let prompt = AutomaticPrompt(terminalPath: screen.path)
      let open = reading(item, of: vault, at: prompt)
      try await awaitUntil("the question") { screen.shows("passcode: ") }
      try await expect(vault.status().itemCount, equals: 1)
      if byTask { open.cancel() } else { vault.lock() }
      await expect(open.value, equals: .appCancelled)
      try await awaitUntil("the end of the line") { screen.shows("\n") }
      try await awaitUntil("echo") { screen.echoes }
      // The terminal is free for the next prompt.
      let next = reading(item, of: vault, at: prompt)
      try await awaitUntil("the next question") { screen.shows("passcode: ") }
      screen.type("passcode\n")
      #expect(await next.value == nil)
    }

    // Verified to fail when a prompt waits for its turn without a look at its request, and when the end of one request
    // ends every prompt of the same value.
    @Test("of two calls that share a prompt, the one whose task ends leaves the other's question open")
    func shared() async throws {
      let (vault, item) = try await make()
      let screen = try PseudoTerminal()
      let prompt = AutomaticPrompt(terminalPath: screen.path)
      let first = reading(item, of: vault, at: prompt)
      try await awaitUntil("the question") { screen.shows("passcode: ") }
      let second = reading(item, of: vault, at: prompt)
      try await awaitUntil("what the other call says") { screen.shows("Another prompt is open") }
      second.cancel()
      await expect(second.value, equals: .appCancelled)
      try await awaitUntil("the log of the end") {
        try await vault.auditEntries().contains { $0.operation == .accessDenied }
      }
      screen.type("passcode\n")
      #expect(await first.value == nil)
    }
  }
}
