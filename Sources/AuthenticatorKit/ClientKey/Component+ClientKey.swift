package import VaultKit

extension Component {
  /// Client keys. The rules of keys are the vault's own: a program can store an exportable one.
  package static let key = Component(.key)
}
