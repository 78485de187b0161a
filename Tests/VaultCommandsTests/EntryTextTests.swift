import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultCommands
import VaultKit

/// Verified to fail when a value that begins with a blank loses it, and when a value of several lines is written on one.
@Suite("An entry as text", .bounded)
struct EntryTextTests {
  private func secret(_ text: String) -> SecretBytes { SecretBytes(copying: Array(text.utf8)) }

  /// Texts that a person types, and those that an editor would not keep.
  private static let values = [
    "", "x", " begins with a blank", "ends with one ", "=", "a = b", "| pipe", "# remark", "two\nlines", "\n",
    "ends\n", "\n\nx\n\n",
    "tab\there", "carriage\r", "\u{1B}[2J", "\u{0}", "é e\u{301}", "notes:", "\u{FEFF}mark", "\u{2028}", "|",
    "| \n| ",
    String(repeating: "long ", count: 2000),
  ]

  @Test("every value comes back as it was, wherever it is")
  func roundTrip() throws {
    var generator = SeededGenerator(seed: 4711)
    for round in 0..<200 {
      var draft = EntryDraft()
      let value = { Self.values.randomElement(using: &generator)! }
      let password = round % 5 == 0 ? nil : value()
      if let password, !password.isEmpty { draft.content.setPassword(secret(password)) }
      try draft.content.setNotes(secret(value()))
      for (index, isHidden) in [true, false, true].enumerated() {
        try draft.content.setField("field \(index): a b", to: secret(value()), isHidden: isHidden)
      }
      for address in ["https://a.example", " x"].prefix(round % 3) {
        try draft.content.addAddress(secret(address))
      }
      draft.texts = ["account": "a = b", "comment": " c "].filter { _ in Bool.random(using: &generator) }
      draft.tags = ["home", "work"].filter { _ in Bool.random(using: &generator) }
      let read = try EntryTextReader.draft(of: EntryText.text(of: draft, named: "n"))
      expect(read.content.differences(from: draft.content), equals: [], "round \(round)")
      expect(read.changes(from: draft).names, equals: [], "round \(round)")
    }
  }

  @Test("a draft changes what is different, and nothing else")
  func applied() throws {
    var before = EntryDraft()
    before.content.setPassword(secret("p"))
    try before.content.setField("a", to: secret("1"), isHidden: true)
    try before.content.setField("b", to: secret("2"), isHidden: false)
    var after = before
    try after.content.removeField("b")
    try after.content.setField("c", to: secret("3"), isHidden: false)
    try after.content.setField("a", to: secret("1"), isHidden: false)
    try after.content.setNotes(secret("n"))
    var entry = before.content
    try after.apply(to: &entry)
    expect(entry.differences(from: after.content), equals: [])
    expect(entry.differences(from: before.content), equals: ["notes", "\"a\"", "\"c\"", "\"b\""])
  }

  @Test("blanks around keys, remarks and empty lines mean nothing; all below 'notes:' does")
  func layout() throws {
    let text =
      "  # remark\n\n  account=anna\nfield   a b  =  x\n\tpassword =p\nnotes:  \n# kept\n\n  kept too"
    let draft = try EntryTextReader.draft(of: SharedSecret(secret(text)))
    expect(draft.texts, equals: ["account": "anna"])
    expect(draft.content.fields.map(\.name), equals: ["a b"])
    var same = EntryDraft()
    try same.content.setNotes(secret("# kept\n\n  kept too"))
    same.content.setPassword(secret("p"))
    try same.content.setField("a b", to: secret(" x"), isHidden: false)
    expect(draft.content.differences(from: same.content), equals: [])
  }
}
