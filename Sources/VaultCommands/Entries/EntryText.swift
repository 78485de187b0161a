import CommandLineKit
package import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// An entry as text that a person edits, and that is read again without a guess.
///
/// ```text
/// account = anna
/// tag = work
/// url = https://shop.example
/// password = correct horse
/// field customer = 4711
/// hidden key of the door =
/// | the first line
/// | the second line
/// notes:
/// everything up to the end
/// ```
///
/// A key and its value are one line; a value of several lines follows its key, each line after `| `. A value that is no text, or has
/// characters that an editor may not keep, is in base64: `base64 password = …`. A line that begins with `#` before `notes:` is a remark.
/// No name of a field has an =, so the first one of a line ends the key.
package enum EntryText {
  /// The text of an entry.
  ///
  /// - Parameter name: What the first line calls it.
  package static func text(of draft: EntryDraft, named name: String) -> SharedSecret {
    let text = SecretText()
    for line in remarks(name) { text.write("# \(line)\n") }
    for (word, _) in ItemLine.attributes { write(word, draft.texts[word].map { [$0] } ?? [], to: text) }
    write("tag", draft.tags, to: text)
    write("url", draft.content.sharedAddresses, to: text)
    write("password", draft.content.sharedPassword.map { [$0] } ?? [], to: text)
    for field in draft.content.fields {
      write((field.isHidden ? "hidden " : "field ") + field.name, field.shared, to: text)
    }
    let notes = draft.content.sharedNotes
    let isShown = notes?.expose { Shape($0) != .other } ?? true
    if let notes, !isShown { write("notes", notes, to: text) }
    text.write("# Everything below the next line is the notes.\nnotes:\n")
    if let notes, isShown {
      notes.expose { text.append($0) }
      text.write("\n")
    }
    return SharedSecret(text.copy())
  }

  private static func remarks(_ name: String) -> [String] {
    [
      "Entry '\(printable(name))'.",
      "Save and close to store it; without a change, nothing is stored.",
      "Each tag, url and field has a line of its own: 'field NAME = VALUE', or",
      "'hidden NAME = VALUE' for a field whose value 'show' does not print.",
      "A value of several lines follows its key, each line after '| '.",
      "service, account, label, comment, tag and the host of the first url can be",
      "read without the passcode.",
    ]
  }

  /// A line for each; without any, a line to be filled.
  private static func write(_ key: String, _ values: [SharedSecret], to text: SecretText) {
    if values.isEmpty { text.write("\(key) =\n") }
    for value in values { write(key, value, to: text) }
  }

  private static func write(_ key: String, _ values: [String], to text: SecretText) {
    write(key, values.map { SharedSecret(SecretBytes(copying: Array($0.utf8))) }, to: text)
  }

  private static func write(_ key: String, _ value: SharedSecret, to text: SecretText) {
    switch value.expose({ Shape($0) }) {
    case .line:
      text.write("\(key) = ")
      value.expose { text.append($0) }
      text.write("\n")
    case .lines:
      text.write("\(key) =\n")
      value.expose { bytes in
        for line in bytes.lines {
          text.write("| ")
          text.append(bytes.extracting(line))
          text.write("\n")
        }
      }
    case .other:
      text.write("base64 \(key) = ")
      value.expose { bytes in
        text.writeSecret(bytes, through: { Base64.encode($0, into: &$1) }, group: Base64.groupByteCount)
      }
      text.write("\n")
    }
  }

  /// How a value is written.
  enum Shape {
    case line
    case lines
    /// No text, or with characters that an editor may not keep.
    case other

    init(_ bytes: RawSpan) {
      guard UTF8Text.isValid(bytes) else {
        self = .other
        return
      }
      var hasLines = false
      for offset in 0..<bytes.byteCount {
        let byte = bytes.byte(at: offset)
        if byte == UInt8(ascii: "\n") {
          hasLines = true
        } else if (byte < 0x20 && byte != UInt8(ascii: "\t")) || byte == 0x7F {
          self = .other
          return
        }
      }
      self = hasLines ? .lines : .line
    }
  }
}

extension RawSpan {
  /// The lines without the newlines between them: one more than there are newlines.
  var lines: [Range<Int>] {
    var (lines, start) = ([Range<Int>](), 0)
    for offset in 0..<byteCount where byte(at: offset) == UInt8(ascii: "\n") {
      lines.append(start..<offset)
      start = offset + 1
    }
    return lines + [start..<byteCount]
  }
}
