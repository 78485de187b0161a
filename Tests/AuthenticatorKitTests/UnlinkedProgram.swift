import TestSupport
import Testing
import VaultKit
import VaultTestKit

extension TemporaryVault {
  /// Runs a program of VaultKit alone (`vault-unlinked`) with this vault.
  ///
  /// - Parameters:
  ///   - words: What it shall do, as its file says; none to try everything with each item.
  ///   - clock: A clock that began as ``FixedClock`` does, and was moved since; `nil` for the clocks of the machine.
  /// - Returns: The lines that it printed.
  func runUnlinked(_ words: String..., at clock: FixedClock? = nil) throws -> [String] {
    let moved = clock.map { ["\($0.now().seconds - FixedClock().now().seconds)"] } ?? []
    let result = try Program(Built.path("vault-unlinked"), [folder] + moved + words).run()
    expect(result.status, equals: 0, "\(result.text)")
    return result.text.split(separator: "\n").map(String.init)
  }
}
