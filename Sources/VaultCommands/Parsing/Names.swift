/// Names and other texts that are shown: 1 to 255 bytes of UTF-8 without control characters.
enum Names {
  static let longest = 255
  /// Service, account, label, comment.
  static let longestText = 4096

  static func check(_ name: String, named place: String) throws(CommandError) {
    guard !name.isEmpty else { throw .malformed("\(place) is empty") }
    guard name.utf8.count <= longest else {
      throw .malformed("\(place) is \(name.utf8.count) bytes long, at most \(longest) are allowed")
    }
    try checkCharacters(name, named: place)
  }

  static func checkText(_ text: String, named place: String) throws(CommandError) {
    guard text.utf8.count <= longestText else {
      throw .malformed("\(place) is \(text.utf8.count) bytes long, at most \(longestText) are allowed")
    }
    try checkCharacters(text, named: place)
  }

  private static func checkCharacters(_ text: String, named place: String) throws(CommandError) {
    guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
      throw .malformed("\(place) has a control character", hint: "names are plain text on one line")
    }
  }
}

/// Text made harmless for a terminal: control characters and bidirectional overrides become U+FFFD.
package func printable(_ text: String) -> String {
  guard text.unicodeScalars.contains(where: isUnprintable) else { return text }
  var result = String.UnicodeScalarView()
  for scalar in text.unicodeScalars { result.append(isUnprintable(scalar) ? "\u{FFFD}" : scalar) }
  return String(result)
}

private func isUnprintable(_ scalar: Unicode.Scalar) -> Bool {
  switch scalar.value {
  case 0x20...0x7E: false
  case 0x202A...0x202E, 0x2066...0x2069, 0x2028, 0x2029: true
  default: scalar.properties.generalCategory == .control
  }
}
