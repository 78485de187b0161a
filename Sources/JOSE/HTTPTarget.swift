import Glibc

/// The address of a request as a proof names it (RFC 9449 §4.2, `htu`): without query and fragment, scheme and host in lower case,
/// no port that is the scheme's own, `/` for no path.
///
/// The path stays as it is sent, also where RFC 3986 §6.2.2 has another form for it: a server that normalizes it does so with both,
/// and one that does not sees the same bytes.
package struct HTTPTarget: Sendable, Equatable {
  /// The address, such as `https://server.example/token`.
  package let text: String

  /// - Parameter url: An absolute address of `https` or `http`, at most 2,048 bytes of visible ASCII.
  /// - Throws: ``JOSEError/malformed(_:)`` for another one, one with a name or password in it, one without a host, and one with
  ///   characters that its host or its path cannot have (RFC 3986 §3.2.2, §3.3).
  package init(_ url: String) throws(JOSEError) {
    guard url.utf8.count <= 2048, url.utf8.allSatisfy({ 0x21...0x7E ~= $0 && $0 != UInt8(ascii: "\\") }),
      let colon = url.firstIndex(of: ":"), url[colon...].hasPrefix("://")
    else { throw Self.malformed }
    let scheme = url[..<colon].lowercased()
    guard scheme == "https" || scheme == "http" else { throw Self.malformed }
    let rest = url[colon...].dropFirst(3).prefix { $0 != "?" && $0 != "#" }
    let slash = rest.firstIndex(of: "/") ?? rest.endIndex
    let path = slash == rest.endIndex ? "/" : rest[slash...]
    // A client removes such parts before it sends the request, so the server would see another address.
    guard Self.isPath(path), !path.split(separator: "/").contains(where: Self.isDots) else {
      throw Self.malformed
    }
    text = "\(scheme)://\(try Self.authority(rest[..<slash], scheme: scheme))\(path)"
  }

  private static func isDots(_ part: Substring) -> Bool {
    [".", "..", "%2e", ".%2e", "%2e.", "%2e%2e"].contains(part.lowercased())
  }

  /// Whether a text of visible ASCII has only characters of a path, and two digits behind each `%`.
  private static func isPath(_ text: Substring) -> Bool {
    let escapes = text.split(separator: "%", omittingEmptySubsequences: false).dropFirst()
    return !text.contains { "\"<>[]^`{|}".contains($0) }
      && escapes.allSatisfy { $0.count >= 2 && $0.prefix(2).allSatisfy(\.isHexDigit) }
  }

  /// Host and port; the port only if it is not the one of the scheme.
  private static func authority(_ text: Substring, scheme: String) throws(JOSEError) -> String {
    let end = text.last == "]" ? nil : text.lastIndex(of: ":")
    let host = text[..<(end ?? text.endIndex)].lowercased()
    guard isHost(host) else { throw malformed }
    guard let end else { return host }
    let port = text[text.index(after: end)...]
    guard !port.isEmpty else { return host }
    guard port.utf8.count <= 5, port.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let number = UInt16(port) else {
      throw malformed
    }
    return number == (scheme == "https" ? 443 : 80) ? host : "\(host):\(number)"
  }

  /// Whether a text is a name of a host, an address of IPv4, or one of IPv6 in brackets.
  private static func isHost(_ text: String) -> Bool {
    guard text.hasPrefix("["), text.hasSuffix("]") else {
      return !text.isEmpty && text.allSatisfy { $0.isLetter || $0.isNumber || "-._".contains($0) }
    }
    var address = in6_addr()
    return unsafe inet_pton(AF_INET6, String(text.dropFirst().dropLast()), &address) == 1
  }

  private static var malformed: JOSEError {
    .malformed("the address is no https or http address that a proof can name")
  }
}
