import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultFormat

/// The record of an entry: what is put in comes out, what a later version keeps stays, and what cannot be is refused by name.
///
/// Verified to fail when a field is lost while another is set, when what a later version keeps is dropped, and when a field of 64 KiB
/// and a byte is taken.
@Suite("The content of an entry", .bounded)
struct EntryContentTests {
  private func secret(_ text: String) -> SecretBytes { SecretBytes(copying: Array(text.utf8)) }

  private func text(_ secret: borrowing SecretBytes) -> String {
    secret.expose { String(decoding: $0.array, as: UTF8.self) }
  }

  private func full() throws -> EntryContent {
    var entry = EntryContent(password: secret("correct horse"))
    try entry.setNotes(secret("one\ntwo\n"))
    try entry.setField("customer", to: secret("4711"), isHidden: false)
    try entry.setField("PIN of card", to: secret("1234"))
    try entry.addAddress(secret("https://anna@Shop.example:443/login?x"))
    try entry.addAddress(secret("https://other.example"))
    return entry
  }

  private func shown(_ entry: EntryContent) -> [String] {
    [text(entry.password ?? secret("-")), text(entry.notes ?? secret("-"))]
      + entry.fields.map { "\($0.name)=\(text($0.value))\($0.isHidden ? " hidden" : "")" }
      + (0..<entry.addressCount).map { text(entry.address($0)) }
  }

  @Test("what is put in comes out")
  func roundTrip() throws {
    let entry = try full()
    let read = try EntryContent(decoding: entry.encoded())
    expect(
      shown(read),
      equals: [
        "correct horse", "one\ntwo\n", "customer=4711", "PIN of card=1234 hidden",
        "https://anna@Shop.example:443/login?x", "https://other.example",
      ])
    expect(read.host, equals: "shop.example")
    try expect(shown(EntryContent(decoding: EntryContent().encoded())), equals: ["-", "-"])
  }

  @Test("a change touches nothing else")
  func changes() throws {
    var entry = try EntryContent(decoding: full().encoded())
    entry.setPassword(secret("new"))
    try entry.setField("customer", to: secret("4712"))
    try entry.removeField("PIN of card")
    entry.removeAddresses()
    expect(shown(entry), equals: ["new", "one\ntwo\n", "customer=4712"])
    try entry.setNotes(nil)
    entry.setPassword(nil)
    expect(shown(entry), equals: ["-", "-", "customer=4712"])
    #expect(!entry.isPlain && EntryContent(password: secret("x")).isPlain && !EntryContent().isPlain)
  }

  @Test("what a later version keeps in the record and in a field stays")
  func later() throws {
    var field = Record()
    field[1] = Array("a".utf8)
    field[2] = Array("b".utf8)
    field[9] = [9, 9]
    var record = Record()
    record[1] = Array("p".utf8)
    record[3] = Record.list([field.encoded]).encoded
    record[7] = [7]
    record[8] = [8, 8]
    var entry = try EntryContent(decoding: SecretBytes(copying: record.encoded))
    try expect(entry.encoded().expose { $0.array }, equals: record.encoded)
    try entry.setField("a", to: secret("b"))
    entry.setPassword(secret("p"))
    try expect(entry.encoded().expose { $0.array }, equals: record.encoded)
  }

  @Test(
    "a name that cannot be is refused",
    arguments: [
      "", String(repeating: "x", count: 256), String(repeating: "ä", count: 150), "a=b", "a\nb", "a\u{202E}b",
      " a", "a ",
      "a  b", "\u{200B}", "a\u{0}b", "\t",
    ])
  func names(name: String) throws {
    var entry = try full()
    let before = shown(entry)
    let error = thrown { () throws(VaultError) in
      try entry.setField(name, to: SecretBytes(copying: Array("v".utf8)))
    }
    #expect(error?.code == .malformed)
    expect(shown(entry), equals: before)
  }

  @Test("one name in two forms of Unicode is one field")
  func forms() throws {
    var entry = EntryContent()
    try entry.setField("caf\u{E9}", to: secret("1"))
    try entry.setField("cafe\u{301}", to: secret("2"))
    expect(shown(entry), equals: ["-", "-", "caf\u{E9}=2 hidden"])
    try expect(text(entry.field("cafe\u{301}").value), equals: "2")
    let error = thrown { () throws(VaultError) in _ = try entry.field("Caf\u{E9}") }
    #expect(error?.code == .itemNotFound && error?.message.contains("Caf\u{E9}") == true)
  }

  @Test("values, counts and the whole are bounded")
  func bounds() throws {
    var entry = EntryContent()
    let most = SecretBytes(copying: [UInt8](repeating: 0x61, count: 64 << 10))
    try entry.setField("a", to: most.copy())
    let bad: [[UInt8]] = [[UInt8](repeating: 0x61, count: 64 << 10 + 1), [0xFF], [0xC3], [0xED, 0xA0, 0x80]]
    for bytes in bad {
      let error = thrown { [entry] () throws(VaultError) in
        var entry = entry
        try entry.setField("b", to: SecretBytes(copying: bytes))
      }
      #expect(error?.code == .malformed && error?.message.contains("\"b\"") == true)
    }
    for index in 1..<64 { try entry.setField("\(index)", to: secret("")) }
    let tooMany = thrown { [entry] () throws(VaultError) in
      var entry = entry
      try entry.setField("65", to: SecretBytes(copying: Array("".utf8)))
    }
    #expect(tooMany?.code == .malformed)
    for name in ["1", "2", "3"] { try entry.setField(name, to: most.copy()) }
    let tooLong = thrown { [entry] () throws(VaultError) in _ = try entry.encoded() }
    #expect(tooLong?.code == .malformed)
    let badNotes = thrown { [entry] () throws(VaultError) in
      var entry = entry
      try entry.setNotes(SecretBytes(copying: [0x61, 0xC0]))
    }
    #expect(badNotes?.code == .malformed && badNotes?.message.contains("notes") == true)
  }

  @Test(
    "addresses that cannot be are refused",
    arguments: ["", "https://a\nb", "a\u{7F}", String(repeating: "a", count: 4097)])
  func addresses(text: String) throws {
    let error = thrown { () throws(VaultError) in
      var entry = EntryContent()
      try entry.addAddress(SecretBytes(copying: Array(text.utf8)))
    }
    #expect(error?.code == .malformed)
  }

  @Test(
    "the host of the first address",
    arguments: [
      ("shop.example", "shop.example"), ("HTTP://A.B/c", "a.b"), ("ssh://git@h:22/x@y", "h"),
      ("[::1]:80/x", "::1"),
      ("https://", ""), ("mailto:x", "mailto"), ("//h/x", ""),
    ])
  func hosts(address: String, host: String) throws {
    var entry = EntryContent()
    try entry.addAddress(secret(address))
    expect(entry.host ?? "", equals: host)
  }

  @Test("each record that is cut or altered opens or is damaged")
  func altered() throws {
    let bytes = try full().encoded().expose { $0.array }
    for end in 0..<bytes.count {
      let error = thrown { () throws(VaultError) in
        _ = try EntryContent(decoding: SecretBytes(copying: Array(bytes[..<end])))
      }
      #expect(error == nil || error?.code == .damaged)
    }
    for index in bytes.indices {
      var other = bytes
      other[index] ^= 0x81
      let error = thrown { [other] () throws(VaultError) in
        _ = try EntryContent(decoding: SecretBytes(copying: other))
      }
      #expect(error == nil || error?.code == .damaged)
    }
  }
}
