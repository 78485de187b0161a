import Foundation
import TestSupport
import Testing

/// The names by which vaults, keys and services are found in the system are one word, and were others before the first release
/// (docs/decisions/0077). A former one anywhere would be a place that nobody finds.
@Suite("Names in the system", .bounded)
struct SystemNameTests {
  /// Verified to fail when a guide names the former directory, and when a script sets a former variable.
  @Test("no file has a former name, but the listed ones that refuse it")
  func former() throws {
    var (count, unused) = (0, Set(Self.allowed.keys))
    for file in try Repository.committedFiles() where file != Self.own {
      guard let bytes = try? Data(contentsOf: Repository.root.appendingPathComponent(file)) else { continue }
      count += 1
      let found = Self.formerNames(in: bytes)
      if Self.allowed[file] == nil { expect(found, equals: [], "\(file)") }
      if !found.isEmpty { unused.remove(file) }
    }
    #expect(count > 1000)
    expect(unused.sorted(), equals: [], "an entry that nothing needs goes")
  }

  @Test(
    "what has a former name is found",
    arguments: [
      "export VAULT_PATH=x", "\"VAULT_AGENT\"", "~/.local/share/vault/default.vault", "$XDG_STATE_HOME/vault",
      "state/vault\"",
      "/etc/pam.d/vault", "xdg:schema vault.DeviceKey", "share/vaultctl share/vault ",
    ])
  func found(line: String) { expect(Self.formerNames(in: Data(line.utf8)).count, equals: 1, "\(line)") }

  @Test(
    "what has none is not",
    arguments: [
      "export VAULTCTL_PATH=x", "VAULT_WARNINGS=errors", "~/.local/share/vaultctl/default.vault",
      "vaultctl.DeviceKey", "vault/1/x",
      "/etc/pam.d/vaultctl", "/var/lib/vaultd/1000",
    ])
  func notFound(line: String) { expect(Self.formerNames(in: Data(line.utf8)), equals: []) }

  private static func formerNames(in bytes: Data) -> [String] {
    words.filter { bytes.range(of: Data($0.utf8)) != nil }
      + directories.filter { occurrences(of: $0, in: bytes) > occurrences(of: $0 + "ctl", in: bytes) }
  }

  private static func occurrences(of word: String, in bytes: Data) -> Int {
    var (count, rest) = (0, bytes[...])
    while let range = rest.range(of: Data(word.utf8)) {
      count += 1
      rest = rest[range.upperBound...]
    }
    return count
  }

  private static let words = [
    "VAULT_PATH", "VAULT_DEVICE_KEY", "VAULT_AGENT", "VAULT_PINENTRY", "vault.DeviceKey",
  ]
  private static let directories = ["share/vault", "state/vault", "_HOME/vault", "pam.d/vault"]

  /// This file has them as words to look for.
  private static let own = "Tests/LayeringTests/SystemNameTests.swift"

  /// The files that may have them, with the reason.
  private static let allowed = [
    "Sources/VaultFormat/Places/FormerVariable.swift": "the list of the variables that are refused",
    "Sources/VaultKit/VaultPath.swift": "its documentation says that one is refused",
    "Sources/CSystem/CSecretService/CSecretService.c": "looks whether a key is there, to say so",
    "Sources/DeviceKeys/Protectors/SecretServiceProtector.swift": "says how such a key is copied",
    "Tests/SecretServiceTests/VerbTests.swift": "puts a key there",
    "Tests/VaultCommandsTests/FormerVariableTests.swift": "sets them",
    "Tests/VaultCommandsTests/FormerPlaceTests.swift": "makes the directories",
    "Tests/VaultKitTests/StandardPlaceTests.swift": "sets one, and makes the directory",
    "Tests/VaultPromptsTests/PinentryPromptTests.swift": "sets one",
    "Tests/VaultAgentTests/KeeperRefusalTests.swift": "makes the directory",
    "docs/man/vaultd.1": "says that they are refused",
    "docs/decisions/0077-names-in-the-system.md": "says what they were",
  ]
}
