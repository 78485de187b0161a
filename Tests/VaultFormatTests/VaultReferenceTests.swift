import TestSupport
import Testing
import VaultFormat

/// Verified to fail when the first slash separates, when a name is not decoded, and when a control character passes.
@Suite("References", .bounded)
struct VaultReferenceTests {
  @Test(
    "the last slash separates name and field, and both are decoded",
    arguments: [
      ("vaultctl://db", "db", "password"), ("vaultctl://db/password", "db", "password"),
      ("vaultctl://db/notes", "db", "notes"), ("vaultctl://web/shop/password", "web/shop", "password"),
      ("vaultctl://web%2Fshop/password", "web/shop", "password"),
      ("vaultctl://web%2fshop", "web/shop", "password"),
      ("vaultctl://db/PIN%20of%20card", "db", "PIN of card"), ("vaultctl://a%25b/c%3Dd", "a%b", "c=d"),
      ("vaultctl://db//x", "db/", "x"), ("vaultctl:///x/y", "/x", "y"), ("vaultctl://db/a%2Fb", "db", "a/b"),
      ("vaultctl://b%C3%BCro/password", "büro", "password"), ("vaultctl://büro/größe", "büro", "größe"),
      ("vaultctl://me@example.org:22+a,b;c!$&'()*=~/x", "me@example.org:22+a,b;c!$&'()*=~", "x"),
      ("vaultctl://%7B%7B/%7D", "{{", "}"), ("vaultctl://.%2E/.", "..", "."), ("vaultctl://+/+", "+", "+"),
    ])
  func read(text: String, name: String, field: String) throws {
    let reference = try VaultReference(text)
    expect(reference.name, equals: name)
    expect(reference.field, equals: field)
    try expect(VaultReference(reference.text), equals: reference)
  }

  @Test("a reference is written with its field, and nothing in it has a meaning of its own")
  func written() throws {
    try expect(VaultReference(name: "web/shop").text, equals: "vaultctl://web%2Fshop/password")
    try expect(
      VaultReference(name: "a {{b}} %", field: "PIN of “card”?#").text,
      equals: "vaultctl://a%20%7B%7Bb%7D%7D%20%25/PIN%20of%20%E2%80%9Ccard%E2%80%9D%3F%23")
    let longest = String(repeating: "\u{1F511}", count: 63) + "abc"
    let reference = try VaultReference(name: longest, field: longest)
    try expect(VaultReference(reference.text), equals: reference)
  }

  @Test(
    "what is no reference is refused, and the error says what is wrong with it",
    arguments: [
      ("", "does not begin with vaultctl://"), ("db/password", "does not begin with vaultctl://"),
      ("vaultctl:", "does not begin with vaultctl://, in small letters"),
      ("vaultctl:db", "'vaultctl:db' does not begin with vaultctl://"),
      ("vaultctl:/db/password", "does not begin with vaultctl://"),
      ("VAULTCTL://db", "in small letters"), ("Vaultctl://db", "in small letters"),
      (" vaultctl://db", "begins with vaultctl://"),
      ("op://vault/item/field", "'op://vault/item/field' is one of another program"),
      ("vault://db", "is one of another program"), ("vaultctls://db", "is one of another program"),
      ("vaultctl://", "has no name"), ("vaultctl:///password", "has no name"),
      ("vaultctl:///", "has no name"),
      ("vaultctl://db/", "no field follows"), ("vaultctl://web/shop/", "no field follows"),
      ("vaultctl://a b", "has a space"), ("vaultctl://db/a b", "has a space"),
      ("vaultctl://db ", "has a space"),
      ("vaultctl://db?x=y", "has the character ?"), ("vaultctl://db#x", "has the character #"),
      ("vaultctl://{{db}}", "has the character {"), ("vaultctl://db}", "has the character }"),
      ("vaultctl://\"db\"", "has the character \""), ("vaultctl://<db>", "has the character <"),
      ("vaultctl://a\\b", "has the character \\"), ("vaultctl://[db]", "has the character ["),
      ("vaultctl://db%", "two hexadecimal digits"), ("vaultctl://db%2/x", "two hexadecimal digits"),
      ("vaultctl://%GG", "two hexadecimal digits"), ("vaultctl://100%/x", "two hexadecimal digits"),
      ("vaultctl://db/%zz", "two hexadecimal digits"),
      ("vaultctl://%FF", "is not UTF-8"), ("vaultctl://db/%C3", "is not UTF-8"),
      ("vaultctl://%C0%AF", "is not UTF-8"), ("vaultctl://%ED%A0%80", "is not UTF-8"),
      ("vaultctl://a%00b", "control character in its name"),
      ("vaultctl://db/%0A", "control character in its field"),
      ("vaultctl://%C2%85", "control character in its name"), ("vaultctl://a\nb", "has a control character"),
      ("vaultctl://a\u{0}b", "has a control character"), ("vaultctl://a\u{7F}", "has a control character"),
      ("vaultctl://a\u{202E}b", "does not show: U+202E"), ("vaultctl://a\u{200B}", "does not show: U+200B"),
      ("vaultctl://a\u{A0}b", "does not show: U+A0"),
    ])
  func refused(text: String, why: String) {
    let error = error(of: text)
    #expect(error?.code == .malformed && error?.message.contains(why) == true, "\(error?.message ?? "none")")
    #expect(error?.message.unicodeScalars.contains { $0.properties.generalCategory == .control } == false)
  }

  @Test("what is too long is refused, and a little of it is shown")
  func tooLong() {
    let name = String(repeating: "n", count: 256)
    expect(error(of: "vaultctl://\(name)/x")?.message.contains("a name of 256 bytes"), equals: true)
    expect(error(of: "vaultctl://x/\(name)")?.message.contains("a field of 256 bytes"), equals: true)
    let text = "vaultctl://" + String(repeating: "%41", count: 1000)
    let message = error(of: text)?.message ?? ""
    #expect(message.contains("3011 bytes long") && message.contains("…") && message.utf8.count < 200)
    for (name, field) in [("", "x"), ("x", ""), (name, "x"), ("x", name), ("a\u{0}", "x"), ("x", "a\n")] {
      #expect(throws: VaultError.self) { try VaultReference(name: name, field: field) }
    }
  }

  @Test("a text that is meant as nothing of this kind could be a secret, and is not repeated")
  func secret() {
    let message = error(of: "hunter2")?.message ?? "hunter2"
    #expect(!message.contains("hunter2"))
  }

  @Test("what begins as a reference is meant as one")
  func meant() {
    for text in ["vaultctl:", "vaultctl://db", "VaultCtl:x"] {
      #expect(VaultReference.isMeant(by: text))
    }
    for text in ["", "vaultct", "vaultctl", "vaultctl/db", "op://db", " vaultctl://db", "db"] {
      #expect(!VaultReference.isMeant(by: text))
    }
  }

  private func error(of text: String) -> VaultError? {
    do throws(VaultError) { _ = try VaultReference(text) } catch { return error }
    return nil
  }
}
