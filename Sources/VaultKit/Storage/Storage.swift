public import SecretMemory
public import VaultFormat

/// Where a component of a program keeps what it needs the next time: values by key. ``ItemStorage`` keeps them in a vault; a test
/// can have one in memory.
public protocol Storage: Sendable {
  /// The value of a key; `nil` where there is none.
  func get(_ key: String) async throws(VaultError) -> SecretBytes?
  /// Stores a value, in the place of the one that is there.
  func set(_ key: String, _ value: consuming SecretBytes) async throws(VaultError)
  /// Removes a value, if there is one.
  func remove(_ key: String) async throws(VaultError)
}
