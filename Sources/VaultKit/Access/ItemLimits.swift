import VaultKeys
import SealedStorage
package import VaultFormat
import VaultCrypto
import VaultStorage

/// The limits of an item's contents.
package enum ItemLimits {
  /// The longest secret, in bytes.
  package static let secretByteCount = 1 << 20
  /// How many former secrets an entry keeps.
  package static let formerCount = 5
  /// The longest value of one attribute, in bytes.
  package static let attributeByteCount = 64 << 10
  /// The longest name, in bytes.
  package static let nameByteCount = 255

  /// - Parameter old: The present attributes. A name that an earlier version accepted may stay.
  static func check(_ attributes: Attributes, replacing old: Attributes = Attributes()) throws(VaultError) {
    if let name = attributes[.name] {
      if name != old[.name] { try check(name: name) }
    } else if attributes.bytes(of: Attribute<String>.name.code) != nil {
      throw VaultError(.malformed, "a name is text")
    }
    for (word, attribute) in shownAttributes {
      guard let text = attributes[attribute], text != old[attribute] else { continue }
      try check(text, flaw: VisibleText.flaw(inName: text), word: word)
    }
    for code in attributes.codes where attributes.bytes(of: code)!.count > attributeByteCount {
      throw VaultError(.malformed, "an attribute is at most 64 KiB")
    }
  }

  /// The times at which an item that a person stores can expire: from 1970 to the end of the year 9999.
  package static let expiries = Instant(milliseconds: 0)...Instant(milliseconds: 253_402_300_799_999)

  /// Bounds the time that a caller gives. A component bounds its own.
  static func check(expires: Instant?) throws(VaultError) {
    guard expires.map(expiries.contains) ?? true else {
      throw VaultError(.malformed, "an expiry is from 1970 to the end of the year 9999")
    }
  }

  static func check(secretByteCount count: Int) throws(VaultError) {
    guard count <= secretByteCount else { throw VaultError(.malformed, "a secret is at most 1 MiB") }
  }

  /// Checks that a name is 1–255 bytes of UTF-8, and that all its characters and spaces are visible.
  package static func check(name: String) throws(VaultError) {
    guard 1...nameByteCount ~= name.utf8.count else {
      throw VaultError(.malformed, "a name is 1 to 255 bytes of UTF-8")
    }
    try check(name, flaw: VisibleText.flaw(inName: name), word: "name")
  }

  private static func check(_ text: String, flaw: String?, word: String) throws(VaultError) {
    guard let flaw else { return }
    throw VaultError(.malformed, "the \(word) \(flaw)", hint: "leave out what does not show")
  }

  /// The attributes by which a person recognizes an item.
  private static let shownAttributes: [(String, Attribute<String>)] = [
    ("service", .service), ("account", .account),
  ]
}
