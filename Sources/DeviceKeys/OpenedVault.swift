package import VaultFormat

/// The proof that a vault was opened with its current device key: the header that this key authenticated. Only the
/// vault makes such a proof, from its open keys.
package struct OpenedVault: Sendable {
  package let header: Header
  package let path: String

  package init(_ header: Header, at path: String) {
    self.header = header
    self.path = path
  }
}
