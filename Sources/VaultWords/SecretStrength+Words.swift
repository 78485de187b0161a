package import VaultKit

extension SecretStrength {
  /// The estimate, as messages have it.
  package var words: String { "it has about \(bitCount) bit\(bitCount == 1 ? "" : "s")" }
}
