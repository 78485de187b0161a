import CCurl
import Glibc

/// The origin of an address: `https`, a host and a port.
package struct Origin: Hashable, Sendable {
  /// In lower case.
  package let host: String
  package let port: Int

  /// The origin in an address.
  var text: String { port == 443 ? "https://\(host)" : "https://\(host):\(port)" }

  /// The host as certificates name it: an IPv6 address without brackets, a name without the dot of the root.
  var certifiedName: String {
    if host.hasPrefix("[") { return String(host.dropFirst().dropLast()) }
    return host.hasSuffix(".") ? String(host.dropLast()) : host
  }

  static func lowerCase(_ text: String) -> String {
    String(decoding: text.utf8.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }, as: UTF8.self)
  }
}

/// An address as libcurl reads it, so that what is compared is what is connected to.
package struct WebAddress: Sendable {
  package let origin: Origin
  /// With the query.
  package let isOrigin: Bool
  package let text: String

  /// - Returns: `nil` for another scheme than https, a user, a fragment, a space or a control character, and what is no address.
  package init?(_ text: String) {
    guard text.utf8.count <= 2048, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
      let parts = Parts(text), parts[CURLUPART_SCHEME] == "https", let host = parts[CURLUPART_HOST],
      // Percent-encoded, it could have other characters than the text.
      host.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
      let port = parts[CURLUPART_PORT].flatMap({ Int($0) }), parts[CURLUPART_FRAGMENT] == nil,
      // A part of the host that is not in its text: an origin would lead through every interface.
      parts[CURLUPART_ZONEID] == nil
    else { return nil }
    origin = Origin(host: Origin.lowerCase(host), port: port)
    isOrigin =
      ["", "/"].contains(parts[CURLUPART_PATH] ?? "") && parts[CURLUPART_QUERY] == nil
      && !text.hasSuffix("/") && !text.contains("?")
    self.text = text
  }

  /// Whether a text names a proxy that needs no password.
  static func isProxy(_ text: String) -> Bool {
    guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), let parts = Parts(text),
      let scheme = parts[CURLUPART_SCHEME], ["http", "socks5h"].contains(scheme),
      parts[CURLUPART_HOST] != nil,
      text.dropFirst(scheme.utf8.count + 3).contains(":")
    else { return false }
    return ["", "/"].contains(parts[CURLUPART_PATH] ?? "") && parts[CURLUPART_QUERY] == nil
  }

  /// A handle of libcurl's reader of addresses.
  @safe private struct Parts: ~Copyable {
    private let handle: OpaquePointer

    init?(_ text: String) {
      guard let handle = unsafe curl_url() else { return nil }
      // A scheme that libcurl was built without is read all the same, and compared afterwards.
      let flags = UInt32(CURLU_DISALLOW_USER | CURLU_NON_SUPPORT_SCHEME)
      guard unsafe curl_url_set(handle, CURLUPART_URL, text, flags) == CURLUE_OK else {
        unsafe curl_url_cleanup(handle)
        return nil
      }
      unsafe self.handle = handle
    }

    deinit { unsafe curl_url_cleanup(handle) }

    subscript(_ part: CURLUPart) -> String? {
      var text: UnsafeMutablePointer<CChar>?
      let flags = UInt32(CURLU_DEFAULT_PORT)
      guard unsafe curl_url_get(handle, part, &text, flags) == CURLUE_OK, let text = unsafe text else {
        return nil
      }
      defer { unsafe curl_free(text) }
      return unsafe String(validatingCString: text)
    }
  }
}
