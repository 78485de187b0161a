/// A word that was typed, for a message: in quotes, and cut where it is long.
///
/// What writes the message makes it harmless for a terminal.
package func quoted(_ word: String) -> String { "'\(shortened(word))'\(cutMark(word))" }

/// A word as it can be typed again in a command that a message shows.
///
/// - Returns: nil for one that a shell would read as something else, and for one that is too long to be copied.
package func typable(_ word: String) -> String? {
  guard !word.isEmpty, word.utf8.count <= longestShown else { return nil }
  let isVisible = word.unicodeScalars.allSatisfy { scalar in
    scalar.value > 0x20 && scalar.value != 0x7F && !(0x80...0xA0).contains(scalar.value)
      && scalar.properties.generalCategory != .format || scalar == " "
  }
  guard isVisible else { return nil }
  let isPlain = word.utf8.allSatisfy { byte in
    0x30...0x39 ~= byte || 0x41...0x5A ~= byte || 0x61...0x7A ~= byte || byte >= 0x80
      || plainMarks.contains(byte)
  }
  if isPlain { return word }
  return word.utf8.contains { unquotable.contains($0) } ? nil : "\"\(word)\""
}

/// An option that was typed, with its dashes and without its value.
///
/// - Returns: nil for one that has not the form of an option, such as one with a capital and a digit: it may be a secret that
///   begins with dashes.
func shownOption(_ word: String) -> String? {
  guard word.hasPrefix("--") else { return word.unicodeScalars.count >= 2 ? String(word.prefix(2)) : nil }
  let name = word.utf8.dropFirst(2).prefix { $0 != UInt8(ascii: "=") }
  let hasForm = name.allSatisfy { byte in
    0x30...0x39 ~= byte || 0x41...0x5A ~= byte || 0x61...0x7A ~= byte || byte == 0x2D || byte == 0x5F
  }
  let hasDigit = name.contains { 0x30...0x39 ~= $0 }
  let hasCapital = name.contains { 0x41...0x5A ~= $0 }
  guard hasForm, name.count <= longestOption, !(hasDigit && hasCapital), let first = name.first,
    first != 0x2D, !(0x30...0x39 ~= first)
  else { return nil }
  return "--" + String(decoding: name, as: UTF8.self)
}

private func shortened(_ word: String) -> String {
  guard word.utf8.count > longestShown else { return word }
  var (text, count) = ("", 0)
  // By code points: any number of them can be one character.
  for scalar in word.unicodeScalars {
    count += UTF8.width(scalar)
    guard count <= longestShown else { break }
    text.unicodeScalars.append(scalar)
  }
  return text + "..."
}

private func cutMark(_ word: String) -> String {
  word.utf8.count > longestShown ? " (\(word.utf8.count) bytes)" : ""
}

/// How many bytes of a word are shown.
private let longestShown = 64

/// No option of a program has a longer name.
private let longestOption = 32

/// What no shell gives a meaning.
private let plainMarks = Array("_./:@%+,-".utf8)

/// What a shell reads in double quotes, or what ends the quotes of the message.
private let unquotable = Array("\"$`\\!'".utf8)
