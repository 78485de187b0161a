import SecretMemory
import VaultKit

/// A database password that can be replaced. A new password is in the vault before the server has it, and the old one
/// remains there until the server has accepted the new one.
struct DatabasePassword: Sendable {
  let vault: Vault

  /// Lends the password to `open`, which returns nil if the server refuses it. After an interrupted replacement, the
  /// server has one of two passwords.
  func connect<C: Sendable>(_ open: @Sendable (RawSpan) throws -> C?) async throws -> C? {
    for name in ["database", "next database"] {
      guard let item = try await vault.items(matching: Query(name: name)).first else { continue }
      if let connection = try await vault.withSecret(of: item.id, { try open($0) }) { return connection }
    }
    return nil
  }

  /// Replaces the password. `change` tells it to the server; after an interruption, it gets the same one again.
  func rotate(_ change: @Sendable (RawSpan) throws -> Void) async throws {
    let next = try await vault.write(consuming: SecretBytes.random(characterCount: 32)) { vault, new in
      if let left = try vault.items(matching: Query(name: "next database")).first { return left }
      return try vault.add(NewItem(.genericPassword, name: "next database"), secret: new)
    }
    try await vault.withSecret(of: next.id) { try change($0) }
    try await vault.write { vault in
      for old in try vault.items(matching: Query(name: "database")) { try vault.delete(old.id) }
      var names = ItemChanges()
      (names.attributes[.name], names.attributes[.account]) = ("database", "database")
      try vault.update(next.id, names)
    }
  }
}
