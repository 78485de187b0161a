package import CommandLineKit
import VaultKit

/// Names and other texts that are shown: 1 to 255 bytes of UTF-8 without control characters.
///
/// A name that is looked for may be one that an earlier version stored; a new one shows as what it is.
package enum Names {
  package static let longest = 255
  /// Service, account, label, comment.
  package static let longestText = 4096

  package static func check(_ name: String, named place: String) throws(CommandError) {
    guard !name.isEmpty else { throw .malformed("\(place) is empty") }
    guard name.utf8.count <= longest else {
      throw .malformed("\(place) is \(name.utf8.count) bytes long, at most \(longest) are allowed")
    }
    try checkCharacters(name, named: place)
  }

  /// As ``check(_:named:)``, for a name that is set.
  package static func checkNew(_ name: String, named place: String) throws(CommandError) {
    try check(name, named: place)
    try checkShown(name, named: place)
  }

  /// What a person tells items apart by.
  package static func checkShown(_ text: String, named place: String) throws(CommandError) {
    guard let flaw = VisibleText.flaw(inName: text) else { return }
    throw .malformed("\(place) \(flaw)", hint: "leave out what does not show")
  }

  package static func checkText(
    _ text: String, named place: String, upTo longest: Int = longestText
  ) throws(CommandError) {
    guard text.utf8.count <= longest else {
      throw .malformed("\(place) is \(text.utf8.count) bytes long, at most \(longest) are allowed")
    }
    try checkCharacters(text, named: place)
  }

  private static func checkCharacters(_ text: String, named place: String) throws(CommandError) {
    guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
      throw .malformed("\(place) has a control character", hint: "names are plain text on one line")
    }
  }
}

/// Text made harmless for a terminal: what does not show as itself is written as `\u{200B}`.
package func printable(_ text: String) -> String { VisibleText.escaped(text) }

/// The same for a sentence: a name or a path in it is escaped already, and is not escaped twice.
package func printableSentence(_ sentence: String) -> String {
  VisibleText.escaped(sentence, keepsEscapes: true)
}
