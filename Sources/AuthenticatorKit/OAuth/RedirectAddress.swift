import JOSE
import VaultKit

/// The address to which a server sends the browser of the person: absolute, and without a fragment (RFC 6749 §3.1.2). An app can
/// have a scheme of its own (RFC 8252 §7.1).
enum RedirectAddress {
  /// - Throws: ``VaultError/Code/malformed``.
  static func check(_ text: String) throws(VaultError) {
    guard RegistrationRecord.addressBytes.contains(text.utf8.count), isAddress(text) else {
      throw VaultError(
        .malformed, "the redirection is not an absolute address without a fragment, of at most 2,048 bytes",
        hint: "give a whole address, such as https://shop.example/back or com.example.app:/back")
    }
  }

  static var missing: VaultError {
    VaultError(
      .malformed, "a person who agrees in a browser must get back, and the redirection is missing",
      hint: "give the address of the redirection")
  }

  private static func isAddress(_ text: String) -> Bool {
    guard text.utf8.allSatisfy(isCharacter), let colon = text.firstIndex(of: ":") else { return false }
    let scheme = text[..<colon].lowercased()
    guard isScheme(scheme), text.index(after: colon) != text.endIndex else { return false }
    return !["https", "http"].contains(scheme) || (try? HTTPTarget(text)) != nil
  }

  /// RFC 3986 §3.1.
  private static func isScheme(_ text: String) -> Bool {
    guard let first = text.utf8.first, letters.contains(first) else { return false }
    return text.utf8.allSatisfy { letters.contains($0) || "0123456789+-.".utf8.contains($0) }
  }

  /// RFC 3986 §2, without the `#` that begins a fragment.
  private static func isCharacter(_ byte: UInt8) -> Bool {
    0x21...0x7E ~= byte && !##""<>\^`{|}#"##.utf8.contains(byte)
  }

  /// Of a scheme in small letters.
  private static let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
}
