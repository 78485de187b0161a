import CommandLineKit
import SecretMemory
import TextFormats
import TextPreparation
import VaultKit
import VaultWords

/// What `show` says of the sealed part of an entry. The password and hidden values are no part of it.
extension EntryContent {
  /// For JSON.
  var members: [JSON.Field] {
    [
      JSON.Field("hasPassword", sharedPassword != nil), JSON.Field("notesLines", notesLineCount),
      JSON.Field("urls", JSON.array(sharedAddresses.map { JSON.text($0) })),
      JSON.Field("fields", JSON.array(fields.map(\.member))),
    ]
  }

  /// For people, in the two columns of ``Item/lines(at:adding:)``.
  ///
  /// - Parameter keys: Keys above that can be wider than those of an item.
  func pieces(below keys: [String]) -> [Outcome.Piece] {
    let width = (keys + ["thisDeviceOnly"]).map(\.count).max()! + 2
    func row(_ key: String, _ value: [Outcome.Piece]) -> [Outcome.Piece] {
      let blanks = String(repeating: " ", count: width - key.count)
      return [.text(key + blanks)] + value + [.text("\n")]
    }
    var pieces = row("password", [.text(sharedPassword == nil ? "no" : Self.dots)])
    for address in sharedAddresses { pieces += row("url", [address.shownOnLine]) }
    for field in fields {
      let value = field.isHidden ? .text(Self.dots) : field.shared.shownOnLine
      pieces += row("field", [.text(printable(field.name) + " = "), value])
    }
    if notesLineCount > 0 {
      pieces += row("notes", [.text(notesLineCount == 1 ? "1 line" : "\(notesLineCount) lines")])
    }
    return pieces
  }

  private var notesLineCount: Int { sharedNotes?.lineCount ?? 0 }

  private static let dots = "********"
}

extension EntryContent.Field {
  fileprivate var member: JSON {
    .object {
      JSON.Field("name", name)
      JSON.Field("hidden", isHidden)
      if !isHidden { JSON.Field("value", JSON.text(shared)) }
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

  /// The text, if it is one short line that shows as what it is; else what it is.
  fileprivate var shownOnLine: Outcome.Piece {
    let isShown = byteCount <= 256 && expose { $0.showsOnLine }
    return isShown
      ? .secret(self) : .text("(\(lineCount == 1 ? "1 line" : "\(lineCount) lines"), \(byteCount) bytes)")
  }
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
