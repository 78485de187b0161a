package import CommandLineKit
package import SecretMemory
import TextFormats
import TextPreparation
import VaultKit
import VaultWords

/// Reads the text of an entry that a person has edited (``EntryText``).
///
/// Every line is understood or is an error, which names the line and never repeats it: a secret may be in the wrong place.
package struct EntryTextReader {
  private let text: SharedSecret
  /// The lines of the text; the last one is empty where the text ends in a newline.
  private let lines: [Range<Int>]
  private var index = 0
  private var draft = EntryDraft()
  private var seen: Set<String> = []
  private var hasNotes = false

  /// - Throws: Exit 12.
  package static func draft(of text: SharedSecret) throws(CommandError) -> EntryDraft {
    var reader = EntryTextReader(text)
    return try reader.read()
  }

  private init(_ text: SharedSecret) {
    self.text = text
    lines = text.expose { $0.lines }
  }

  private mutating func read() throws(CommandError) -> EntryDraft {
    guard text.expose({ UTF8Text.isValid($0) }) else {
      throw .malformed("what the editor stored is not text in UTF-8", hint: EditorRun.nothingChanged)
    }
    while index < lines.count {
      if isNotesLine {
        try readNotes()
        return try finished()
      }
      try readLine()
    }
    throw fault("the line 'notes:' is missing", at: lines.count - 1)
  }

  private func finished() throws(CommandError) -> EntryDraft {
    do throws(VaultError) { _ = try draft.content.encoded() } catch { throw CommandError(error) }
    return draft
  }

  // MARK: Lines

  private mutating func readLine() throws(CommandError) {
    let number = index
    let line = lines[number]
    index += 1
    let (begin, first) = firstCharacter(of: line)
    guard let first, first != UInt8(ascii: "#") else { return }
    guard first != UInt8(ascii: "|") else { throw fault("no key is above the lines after '|'", at: number) }
    guard let equals = offset(of: UInt8(ascii: "="), in: line) else {
      throw fault("there is no =", at: number)
    }
    let key = try key(in: trimmed(begin..<equals), at: number)
    let value = try value(of: key, after: equals, in: line, at: number)
    try take(value, as: key, at: number)
  }

  /// What a line sets.
  private struct Key {
    enum Place: Equatable {
      case text(String)
      case tag, url, password, notes
      case field(String, isHidden: Bool)
    }
    let place: Place
    let isBase64: Bool
  }

  private func key(in range: Range<Int>, at number: Int) throws(CommandError) -> Key {
    let isBase64 = begins(range, with: "base64 ")
    let range = isBase64 ? trimmed(range.lowerBound + 7..<range.upperBound) : range
    for (prefix, isHidden) in [("field ", false), ("hidden ", true)] where begins(range, with: prefix) {
      let name = string(trimmed(range.lowerBound + prefix.utf8.count..<range.upperBound))
      return Key(place: .field(name, isHidden: isHidden), isBase64: isBase64)
    }
    var places: [(String, Key.Place)] = ItemLine.attributes.map { ($0.0, .text($0.0)) }
    places += [("tag", .tag), ("url", .url), ("password", .password)]
    if isBase64 { places.append(("notes", .notes)) }
    guard let place = places.first(where: { range.count == $0.0.utf8.count && begins(range, with: $0.0) })
    else {
      let words = ItemLine.attributes.map(\.0).joined(separator: ", ")
      throw fault("the key is none of \(words), tag, url, password, field NAME, hidden NAME", at: number)
    }
    return Key(place: place.1, isBase64: isBase64)
  }

  /// What follows the =: the rest of the line, or the lines after `|` below it.
  private mutating func value(
    of key: Key, after equals: Int, in line: Range<Int>, at number: Int
  ) throws(CommandError) -> SharedSecret {
    var start = equals + 1
    if start < line.upperBound, byte(start) == UInt8(ascii: " ") { start += 1 }
    var parts = [start..<line.upperBound]
    while index < lines.count, firstCharacter(of: lines[index]).byte == UInt8(ascii: "|"),
      firstCharacter(of: lines[index]).offset == lines[index].lowerBound
    {
      guard parts[0].isEmpty else { throw fault("the value above is on one line already", at: index) }
      var start = lines[index].lowerBound + 1
      if start < lines[index].upperBound, byte(start) == UInt8(ascii: " ") { start += 1 }
      parts.append(start..<lines[index].upperBound)
      index += 1
    }
    if parts.count > 1 { parts.removeFirst() }
    for (offset, part) in parts.enumerated() { try checkCharacters(part, at: number + offset) }
    let joined = joined(parts)
    guard key.isBase64 else { return joined }
    do throws(TextError) {
      return SharedSecret(
        try joined.expose { bytes throws(TextError) in try Base64.decoded(ignoringSpaces: bytes) })
    } catch { throw fault("the value is not base64", at: number) }
  }

  private mutating func take(_ value: SharedSecret, as key: Key, at number: Int) throws(CommandError) {
    switch key.place {
    case .text(let word): draft.texts[word] = try openText(value, named: word, at: number)
    case .tag:
      let tag = try openText(value, named: "tag", at: number)
      guard !tag.isEmpty else { return }
      let checked = try naming(number) { () throws(CommandError) in try Tags.checked(tag, named: "the tag") }
      draft.tags.append(checked)
    case .url:
      guard value.byteCount > 0 else { return }
      try change(at: number) { (content) throws(VaultError) in try content.addAddress(value.copy()) }
    case .password:
      try once("password", at: number)
      draft.content.setPassword(value.byteCount > 0 ? value.copy() : nil)
    case .notes:
      try once("notes", at: number)
      hasNotes = true
      try change(at: number) { (content) throws(VaultError) in try content.setNotes(value.copy()) }
    case .field(let name, let isHidden):
      guard (try? draft.content.field(name)) == nil else {
        throw fault("the field \"\(printable(name))\" is there twice", at: number)
      }
      try change(at: number) { (content) throws(VaultError) in
        try content.setField(name, to: value.copy(), isHidden: isHidden)
      }
    }
  }

  /// A value that is readable without the passcode.
  private mutating func openText(
    _ value: SharedSecret, named word: String, at number: Int
  ) throws(CommandError) -> String {
    if word != "tag" { try once(word, at: number) }
    let text = value.expose { String(decoding: $0.array, as: UTF8.self) }
    try naming(number) { () throws(CommandError) in
      try Names.checkText(text, named: word)
      if word == "account" || word == "service" { try Names.checkShown(text, named: word) }
    }
    return text
  }

  private mutating func once(_ word: String, at number: Int) throws(CommandError) {
    guard seen.insert(word).inserted else { throw fault("\(word) is there twice", at: number) }
  }

  // MARK: Notes

  private var isNotesLine: Bool {
    let line = trimmed(lines[index])
    return line.count == 6 && begins(line, with: "notes:")
  }

  /// All lines that are left. An editor ends the last one with a newline.
  private mutating func readNotes() throws(CommandError) {
    let start = lines[index].upperBound + 1
    let number = index + 1
    index = lines.count
    let all = text.byteCount
    guard start < all else { return }
    let end = byte(all - 1) == UInt8(ascii: "\n") ? all - 1 : all
    guard start < end else { return }
    guard !hasNotes else { throw fault("notes are there twice", at: number) }
    let notes = SharedSecret(copy(start..<end))
    try change(at: number) { (content) throws(VaultError) in try content.setNotes(notes.copy()) }
  }

  // MARK: Errors

  private mutating func change(
    at number: Int, _ body: (inout EntryContent) throws(VaultError) -> Void
  ) throws(CommandError) {
    do throws(VaultError) { try body(&draft.content) } catch { throw fault(error.message, at: number) }
  }

  private func naming<R>(_ number: Int, _ body: () throws(CommandError) -> R) throws(CommandError) -> R {
    do throws(CommandError) { return try body() } catch { throw fault(error.message, at: number) }
  }

  private func fault(_ why: String, at number: Int) -> CommandError {
    .malformed("line \(number + 1): \(why)", hint: EditorRun.nothingChanged)
  }

  /// - Throws: For what no line of text has: the end of line of another system among them.
  private func checkCharacters(_ range: Range<Int>, at number: Int) throws(CommandError) {
    let found = text.expose { bytes in
      range.first { Self.isControl(bytes.byte(at: $0)) }.map { bytes.byte(at: $0) }
    }
    guard let found else { return }
    throw fault(
      found == UInt8(ascii: "\r")
        ? "it has a carriage return: save it with the line ends of Unix" : "it has a control character",
      at: number)
  }

  private static func isControl(_ byte: UInt8) -> Bool {
    byte < 0x20 && byte != UInt8(ascii: "\t") || byte == 0x7F
  }

  // MARK: Bytes

  private func byte(_ offset: Int) -> UInt8 { text.expose { $0.byte(at: offset) } }

  private func offset(of byte: UInt8, in range: Range<Int>) -> Int? {
    text.expose { bytes in range.first { bytes.byte(at: $0) == byte } }
  }

  private func firstCharacter(of range: Range<Int>) -> (offset: Int, byte: UInt8?) {
    let begin = trimmed(range).lowerBound
    return begin < range.upperBound && !trimmed(range).isEmpty ? (begin, byte(begin)) : (begin, nil)
  }

  /// Without blanks at the ends.
  private func trimmed(_ range: Range<Int>) -> Range<Int> {
    text.expose { bytes in
      var (low, high) = (range.lowerBound, range.upperBound)
      while low < high, Self.isBlank(bytes.byte(at: low)) { low += 1 }
      while low < high, Self.isBlank(bytes.byte(at: high - 1)) { high -= 1 }
      return low..<high
    }
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
  }

  private func begins(_ range: Range<Int>, with word: String) -> Bool {
    let word = Array(word.utf8)
    guard range.count >= word.count else { return false }
    return text.expose { bytes in
      word.indices.allSatisfy { bytes.byte(at: range.lowerBound + $0) == word[$0] }
    }
  }

  /// The name of a field, which is not secret.
  private func string(_ range: Range<Int>) -> String {
    text.expose { String(decoding: $0.extracting(range).array, as: UTF8.self) }
  }

  private func copy(_ range: Range<Int>) -> SecretBytes {
    text.expose { SecretBytes(copying: $0.extracting(range)) }
  }

  /// The parts with newlines between them.
  private func joined(_ parts: [Range<Int>]) -> SharedSecret {
    SharedSecret(
      text.expose { bytes in
        SecretBytes(capacity: parts.reduce(0) { $0 + $1.count + 1 }) { output in
          for (index, part) in parts.enumerated() {
            if index > 0 { output.append(byte: UInt8(ascii: "\n")) }
            output.append(copying: bytes.extracting(part))
          }
        }
      })
  }
}
