import CommandLineKit
import SecretMemory
import TextFormats
import TextPreparation
import VaultKit
import VaultWords

/// What `show` says of the sealed part of an entry. The password and hidden values are a part of it only where they are revealed.
extension EntryContent {
  /// For JSON.
  func members(isRevealed: Bool) -> [JSON.Field] {
    var members = [
      JSON.Field("hasPassword", sharedPassword != nil), JSON.Field("notesLines", notesLineCount),
      JSON.Field("urls", JSON.array(sharedAddresses.map { JSON.text($0) })),
      JSON.Field("fields", JSON.array(fields.map { $0.member(isRevealed: isRevealed) })),
    ]
    guard isRevealed else { return members }
    if let sharedNotes { members.append(JSON.Field("notes", JSON.text(sharedNotes))) }
    if let sharedPassword { members += passwordFields(sharedPassword) }
    return members
  }

  /// For people, in the two columns of ``Item/lines(at:adding:)``.
  ///
  /// - Parameters:
  ///   - keys: Keys above that can be wider than those of an item.
  ///   - isRevealed: Whether the password and hidden values are shown.
  ///   - showsNotes: Whether the notes are shown, and not their number of lines.
  func pieces(below keys: [String], isRevealed: Bool, showsNotes: Bool) -> [Outcome.Piece] {
    let rows = ShownRows(width: (keys + ["thisDeviceOnly"]).map { wording(ofKey: $0).count }.max()! + 2)
    var pieces: [Outcome.Piece] = []
    if let sharedPassword, isRevealed {
      pieces += rows.row("password", sharedPassword)
    } else {
      pieces += rows.row("password", [.text(sharedPassword == nil ? "no" : Self.dots)])
    }
    for address in sharedAddresses { pieces += rows.row("url", [address.shownOnLine]) }
    for field in fields {
      let name = printable(field.name) + " = "
      if isRevealed {
        pieces += rows.row("field", field.shared, after: name)
      } else {
        pieces += rows.row(
          "field", [.text(name), field.isHidden ? .text(Self.dots) : field.shared.shownOnLine])
      }
    }
    guard let sharedNotes, notesLineCount > 0 else { return pieces }
    guard showsNotes else { return pieces + rows.row("notes", [.text(sharedNotes.lineCountWords)]) }
    return pieces + rows.row("notes", sharedNotes)
  }

  private var notesLineCount: Int { sharedNotes?.lineCount ?? 0 }

  /// The same for each secret: their number says nothing of its length.
  private static let dots = "********"
}

/// Rows of two columns.
private struct ShownRows {
  /// Of the left column.
  let width: Int

  func row(_ key: String, _ value: [Outcome.Piece]) -> [Outcome.Piece] {
    [.text(key + String(repeating: " ", count: width - key.count))] + value + [.text("\n")]
  }

  /// A text of any number of lines, each in the right column; what it is where a character of it does not show.
  func row(_ key: String, _ secret: SharedSecret, after begin: String = "") -> [Outcome.Piece] {
    var lines = secret.expose { $0.lines }
    if lines.count > 1, lines[lines.count - 1].isEmpty { lines.removeLast() }
    let shows = secret.expose { bytes in lines.allSatisfy { bytes.extracting($0).showsOnLine } }
    guard shows else { return row(key, [.text(begin), secret.described]) }
    let blanks = String(repeating: " ", count: width)
    var pieces = row(key, [.text(begin), .part(of: secret, lines[0])])
    for line in lines.dropFirst() { pieces += [.text(blanks), .part(of: secret, line), .text("\n")] }
    return pieces
  }
}

extension EntryContent.Field {
  fileprivate func member(isRevealed: Bool) -> JSON {
    .object {
      JSON.Field("name", name)
      JSON.Field("hidden", isHidden)
      if isRevealed || !isHidden { JSON.Field("value", JSON.text(shared)) }
    }
  }
}

extension SharedSecret {
  /// How many lines a text has, the last one with or without its end.
  fileprivate var lineCount: Int {
    expose { bytes in
      let lines = bytes.lines
      return lines.count - (lines.last?.isEmpty == true ? 1 : 0)
    }
  }

  fileprivate var lineCountWords: String { lineCount == 1 ? "1 line" : "\(lineCount) lines" }

  /// The text, if it is one short line that shows as what it is; else what it is.
  fileprivate var shownOnLine: Outcome.Piece {
    let isShown = byteCount <= 256 && expose { $0.showsOnLine }
    return isShown ? .secret(self) : described
  }

  /// What it is, in place of itself.
  fileprivate var described: Outcome.Piece { .text("(\(lineCountWords), \(byteCount) bytes)") }
}

extension RawSpan {
  /// Whether it is text of one line, all of whose characters show.
  fileprivate var showsOnLine: Bool {
    var reader = UTF8Characters()
    while let character = reader.next(in: self) {
      guard let scalar = Unicode.Scalar(character), !scalar.isHidden else { return false }
    }
    return !reader.isMalformed
  }
}
