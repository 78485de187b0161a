package import VaultKit

/// Where device keys can be: among files, and with what else keeps keys.
package struct KeyPlaces {
  /// The key file that was named; `nil` for the standard place.
  let named: String?
  private let keeper: (ProtectorKind) throws(VaultError) -> any Protector

  /// - Parameter keeper: What keeps device keys in this way.
  package init(named: String?, keeper: @escaping (ProtectorKind) throws(VaultError) -> any Protector) {
    (self.named, self.keeper) = (named, keeper)
  }

  /// Files, named or in the standard place.
  package func files() throws(VaultError) -> FileProtector {
    if let named { return FileProtector(file: named) }
    return try FileProtector.standard()
  }

  func protector(_ kind: ProtectorKind) throws(VaultError) -> any Protector { try keeper(kind) }
}
