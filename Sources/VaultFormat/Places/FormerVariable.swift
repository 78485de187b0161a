/// An environment variable that has another name since before the first release (docs/decisions/0077).
///
/// The former names are those of another well-known program. One that is set is refused, and is neither used nor passed over in
/// silence.
package struct FormerVariable: Sendable, Equatable {
  package let name: String

  private init(_ name: String) { self.name = name }

  /// What it is called now.
  package var present: String { "VAULTCTL_" + name.dropFirst("VAULT_".count) }

  package static let path = FormerVariable("VAULT_PATH")
  package static let pinentry = FormerVariable("VAULT_PINENTRY")
  package static let all = [
    path, FormerVariable("VAULT_DEVICE_KEY"), FormerVariable("VAULT_AGENT"), pinentry,
  ]

  /// One sentence for a person, or for a program that reads one of these variables.
  package var refusal: String {
    "the variable \(name) is called \(present) now: set \(present) instead, and unset \(name)"
  }
}
