import CommandLineKit
import SecretMemory
import TestSupport
import Testing
import VaultCommands
import VaultKit

/// Verified to fail when a reference in other braces stays as text, when braces may be closed on another line, when the line is not counted,
/// and when text behind the last reference is lost.
@Suite("Templates", .bounded)
struct TemplateTests {
  /// The parts of a template, with each reference as `<NAME/FIELD>`.
  private func read(_ text: String) throws(CommandError) -> String { try read(Array(text.utf8)) }

  private func read(_ bytes: [UInt8]) throws(CommandError) -> String {
    let template = try Template(SharedSecret(SecretBytes(copying: bytes)))
    return template.pieces.map { piece in
      switch piece {
      case .text(let range): String(decoding: bytes[range], as: UTF8.self)
      case .value(let index): "<\(template.references[index].name)/\(template.references[index].field)>"
      }
    }.joined()
  }

  @Test(
    "a reference in braces is found, with or without blanks, wherever it is",
    arguments: [
      ("{{ vaultctl://db/password }}", "<db/password>"), ("{{vaultctl://db}}", "<db/password>"),
      ("a{{\t vaultctl://db\t }}b", "a<db/password>b"),
      ("{{vaultctl://a}}{{vaultctl://b/c}}", "<a/password><b/c>"),
      ("dsn: postgres://app:{{ vaultctl://db/password }}@h\n", "dsn: postgres://app:<db/password>@h\n"),
      ("x\r\n{{ vaultctl://db }}\r\ny", "x\r\n<db/password>\r\ny"),
      (
        "{{ vaultctl://web/shop/notes }} {{ vaultctl://web%2Fshop/notes }}",
        "<web/shop/notes> <web/shop/notes>"
      ),
      ("{\"a\":{\"b\":{{ vaultctl://db }}}}", "{\"a\":{\"b\":<db/password>}}"),
      ("${{ vaultctl://db }}}", "$<db/password>}"), ("{{ vaultctl://a%20b/%7B%7D }}", "<a b/{}>"),
      ("ü{{ vaultctl://büro }}ü", "ü<büro/password>ü"),
    ])
  func found(text: String, expected: String) throws {
    try expect(read(text), equals: expected)
  }

  @Test(
    "what belongs to other programs stays, byte for byte",
    arguments: [
      "", "{", "{{", "{{{{{{", "}}", "{{}}", "{{ .Other }}", "{{ .A }}\n{{ .B }}", "{{ range\n .X }}",
      "{ { x } }",
      "vaultctl://db/password", "{ vaultctl://db }", "text {{ open\nvaultctl://db\n",
      "{{- if .X -}} {{/* vault */}}",
      "{{ op://vault/item/field }}", "{{ vault }}", "{{ vaultct }}", "{{ vaultctl }}", "\u{FEFF}x", "a\u{0}b",
    ])
  func others(text: String) throws {
    try expect(read(text), equals: text)
    // On another line, open braces of others are in nothing's way.
    try expect(read(text + "\n{{ vaultctl://db }}"), equals: text + "\n<db/password>")
  }

  @Test(
    "what is meant as a reference and is none is an error with its line and column",
    arguments: [
      ("{{ vaultctl://db", "line 1, column 1", "not closed"),
      ("a\nbc{{vaultctl://db\n}}", "line 2, column 3", "not closed"),
      ("{{ vaultctl://db }", "line 1, column 1", "not closed"),
      ("{{ vaultctl://a {{ vaultctl://b }}", "line 1, column 17", "braces in the braces"),
      ("{{ {{ vaultctl://db }} }}", "line 1, column 4", "in other braces"),
      ("{{{ vaultctl://db }}}", "line 1, column 2", "in other braces"),
      ("{{ x }} {{ y {{ vaultctl://db }}", "line 1, column 14", "in other braces"),
      ("{{ .X vaultctl://db }}", "line 1, column 7", "does not stand alone"),
      ("ü{{- vaultctl://db -}}", "line 1, column 6", "does not stand alone"),
      ("{{ \"VAULTCTL://db\" }}", "line 1, column 5", "does not stand alone"),
      ("{{\nvaultctl://db }}", "line 1, column 1", "not on one line"),
      ("{{ vaultctl://db | upper }}", "line 1, column 4", "has a space"),
      ("x\n\n  {{ vaultctl:db }}", "line 3, column 6", "does not begin with vaultctl://"),
      ("{{ VaultCtl://db }}", "line 1, column 4", "in small letters"),
      ("{{ vaultctl:// }}", "line 1, column 4", "has no name"),
      ("{{ vaultctl://db/ }}", "line 1, column 4", "no field follows"),
      ("{{ vaultctl://%4 }}", "line 1, column 4", "hexadecimal"),
      ("{{ vaultctl://{db} }}", "line 1, column 4", "has the character {"),
      ("{{ vaultctl://db", "line 1, column 1", "not closed"),
    ])
  func refused(text: String, place: String, why: String) throws {
    let error = #expect(throws: CommandError.self) { try read(text) }
    #expect(error?.exit == .malformed)
    let message = error?.message ?? ""
    #expect(message.hasPrefix(place + " of the template: ") && message.contains(why), "\(message)")
  }

  @Test("a reference that is not UTF-8 is refused, and other bytes are not looked at")
  func notUTF8() throws {
    let error = #expect(throws: CommandError.self) {
      try read(Array("{{ vaultctl://d".utf8) + [0xFF] + Array("b }}".utf8))
    }
    #expect(error?.message.contains("not UTF-8") == true)
    let template = try Template(SharedSecret(SecretBytes(copying: [0xFF, 0xFE, 0, 0x7B])))
    expect(template.references.count, equals: 0)
  }

  @Test("the same reference is asked for once, and each has the place where it is first")
  func once() throws {
    let text = "{{ vaultctl://b }}\n {{ vaultctl://a }}{{ vaultctl://b/password }}"
    let template = try Template(SharedSecret(SecretBytes(copying: Array(text.utf8))))
    expect(template.references.map(\.name), equals: ["b", "a"])
    expect(template.place(ofReference: 0), equals: "line 1, column 1 of the template")
    expect(template.place(ofReference: 1), equals: "line 2, column 2 of the template")
  }

  @Test("a long line of open braces is read once")
  func linear() throws {
    let text = String(repeating: "{{ ", count: 40_000) + "\n" + String(repeating: "{", count: 40_000)
    try expect(read(text).utf8.count, equals: text.utf8.count)
  }
}
