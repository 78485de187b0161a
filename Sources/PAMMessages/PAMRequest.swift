/// A question to PAM: is this its user?
package struct PAMRequest: Sendable {
  /// The service whose file `scripts/install-pam` installs.
  package static let usualService = "vaultctl"

  package let nonce: PAMNonce
  package let service: String
  package let user: String

  /// - Precondition: `service` has at most 255 bytes.
  package init(_ nonce: PAMNonce, service: String, user: String) {
    (self.nonce, self.service, self.user) = (nonce, service, user)
  }

  package var bytes: [UInt8] {
    [UInt8(ascii: "R"), PAMMessages.version] + nonce.bytes + [UInt8(service.utf8.count)] + service.utf8
      + user.utf8
  }

  /// nil for bytes that are not a request of this version.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count > 19, bytes[0] == UInt8(ascii: "R"), bytes[1] == PAMMessages.version else { return nil }
    let end = 19 + Int(bytes[18])
    guard end > 19, bytes.count > end, !bytes[19...].contains(0) else { return nil }
    self.init(
      PAMNonce(bytes: Array(bytes[2..<18])), service: String(decoding: bytes[19..<end], as: UTF8.self),
      user: String(decoding: bytes[end...], as: UTF8.self))
  }
}
