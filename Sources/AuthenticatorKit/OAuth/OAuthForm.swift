import SecretMemory
import TextFormats

/// The parameters of a request to an OAuth server, as a form in secret memory.
final class OAuthForm {
  private let text = SecretText(capacity: 512)

  func set(_ name: String, _ value: String?) {
    guard let value else { return }
    set(name, SharedSecret(SecretBytes(copying: Array(value.utf8))))
  }

  func set(_ name: String, _ value: SharedSecret) {
    if text.byteCount > 0 { text.write("&") }
    text.write(name + "=")
    value.expose { text.writeSecret($0, through: PercentEncoding.encode, group: 512) }
  }

  func copy() -> SecretBytes { text.copy() }
}

/// Header lines of a request, in secret memory.
final class OAuthHeaders {
  private let text = SecretText(capacity: 512)

  func set(_ name: String, _ scheme: String = "", _ value: borrowing SecretBytes) {
    text.write("\(name): " + (scheme.isEmpty ? "" : scheme + " "))
    value.expose { text.append($0) }
    text.write("\n")
  }

  func set(_ name: String, _ value: String) { text.write("\(name): \(value)\n") }

  /// HTTP's `Basic` (RFC 6749 §2.3.1: both are encoded as in a form before).
  func setBasic(_ user: String, _ password: SharedSecret) {
    let pair = SecretText(capacity: 512)
    for byte in user.utf8 { pair.write(PercentEncoding.text(of: byte)) }
    pair.write(":")
    password.expose { pair.writeSecret($0, through: PercentEncoding.encode, group: 512) }
    let encoded = SecretText(capacity: 512)
    pair.expose { encoded.writeSecret($0, through: Base64.encode, group: Base64.groupByteCount) }
    set("Authorization", "Basic", encoded.copy())
  }

  /// `nil` without a header.
  func copy() -> SecretBytes? { text.byteCount > 0 ? text.copy() : nil }
}
