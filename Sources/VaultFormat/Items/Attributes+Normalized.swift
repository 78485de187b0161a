import TextPreparation

extension Attributes {
  /// The same attributes, with the texts by which people find items in form C of Unicode.
  ///
  /// - Throws: ``VaultError/Code/unsupported`` if libunistring is missing and such a text needs it.
  package func normalized() throws(VaultError) -> Attributes {
    var attributes = self
    for (word, attribute) in Self.namingTexts {
      guard let text = attributes[attribute] else { continue }
      let normal: String
      do throws(TextPreparationError) { normal = try TextPreparation.normalized(text) } catch {
        throw VaultError(error, in: "the " + word)
      }
      // Two texts of other forms are equal for Swift.
      if !normal.utf8.elementsEqual(text.utf8) { attributes[attribute] = normal }
    }
    return attributes
  }

  /// The texts in form C: docs/format/vault-file.md, section 6.
  private static let namingTexts: [(String, Attribute<String>)] = [
    ("name", .name), ("service", .service), ("account", .account), ("label", .label), ("server", .server),
    ("security domain", .securityDomain), ("issuer", .issuer),
  ]
}
