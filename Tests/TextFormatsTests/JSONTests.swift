import Foundation
import SecretMemory
import TestSupport
import Testing
import TextFormats

@Suite("JSON that is written", .bounded)
struct JSONTests {
  private func written(_ value: JSON) -> [UInt8] {
    let output = Memory()
    value.write(to: output)
    return output.bytes
  }

  /// An output that keeps what it is given.
  private final class Memory: TextOutput {
    var bytes: [UInt8] = []

    func write(bytes: [UInt8]) { self.bytes += bytes }

    func writeSecret(
      _ bytes: RawSpan, through encode: (RawSpan, inout OutputRawSpan) -> Void, group: Int
    ) {
      var offset = 0
      while offset < bytes.byteCount {
        let end = min(offset + group, bytes.byteCount)
        let encoded = SecretBytes(capacity: 6 * group) { encode(bytes.extracting(offset..<end), &$0) }
        self.bytes += encoded.expose { span in
          (0..<span.byteCount).map { unsafe span.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
        }
        offset = end
      }
    }
  }

  private func box(_ bytes: [UInt8]) -> SharedSecret {
    SharedSecret(
      SecretBytes(capacity: bytes.count) { for byte in bytes { unsafe $0.append(byte, as: UInt8.self) } })
  }

  @Test("integers are exact and text keeps to one line")
  func plain() throws {
    let value = JSON.object {
      Field("unsigned", UInt64.max)
      Field("integer", Int64.min)
      Field("flag", true)
      Field("absent", nil as String?)
      Field("text", "a\"\\\n\u{1}\u{7F}é😀/")
      Field("list", .array([.integer(1), .string("")]))
      Field("made", .list(count: 3) { .integer(Int64($0)) })
      Field("none", .list(count: 0) { _ in .boolean(true) })
    }
    #expect(
      String(decoding: written(value), as: UTF8.self)
        == #"{"unsigned":18446744073709551615,"integer":-9223372036854775808,"flag":true,"#
        + #""text":"a\"\\\n\u0001\u007fé😀/","list":[1,""],"made":[0,1,2],"none":[]}"#)
  }

  /// Verified to fail when only ASCII is escaped.
  @Test(
    "a character that does not show, steers a terminal or turns a line is escaped, and reads as the same text",
    arguments: [
      ("a\u{9B}31mb", #"a\u009b31mb"#), ("a\u{202E}b", #"a\u202eb"#), ("\u{200B}", #"\u200b"#),
      ("\u{2028}x", #"\u2028x"#), ("\u{A0}", #"\u00a0"#), ("\u{E0041}é", #"\udb40\udc41é"#),
      ("Grüße, 世界 😀", "Grüße, 世界 😀"),
    ])
  func hidden(text: String, escaped: String) throws {
    expect(String(decoding: written(.string(text)), as: UTF8.self), equals: "\"\(escaped)\"")
    expect(written(.secretText(box(Array(text.utf8)))), equals: written(.string(text)))
    let json = Array("{\"\(text)\":\"a\\\"b\"}".utf8)
    expect(
      String(decoding: written(.secretJSON(box(json))), as: UTF8.self), equals: "{\"\(escaped)\":\"a\\\"b\"}")
  }

  @Test("a secret text is escaped alike wherever a group of its bytes ends")
  func groups() {
    for length in 500...515 {
      for character in ["é", "\u{9B}", "\u{202E}", "😀", "\u{E0041}"] {
        let text = String(repeating: "x", count: length) + String(repeating: character, count: 200)
        expect(written(.secretText(box(Array(text.utf8)))), equals: written(.string(text)))
      }
    }
  }

  @Test("bytes that are not UTF-8 stay as they are")
  func notText() {
    let bytes = (0..<2_000).map { $0 % 5 == 0 ? 0xFF : UInt8(0x80 | $0 & 0x3F) }
    expect(written(.secretText(box(bytes))), equals: [0x22] + bytes + [0x22])
  }

  @Test(
    "a secret of any length comes back from its base64",
    arguments: [0, 1, 2, 3, 4, 1535, 1536, 1537, 100_000])
  func base64(count: Int) throws {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ $0 >> 8) }
    let text = String(decoding: written(.secretBase64(box(bytes))), as: UTF8.self)
    expect(text, equals: "\"\(Data(bytes).base64EncodedString())\"")
  }

  @Test(
    "a secret of text comes back from its escapes, over the borders of groups",
    arguments: [0, 510, 511, 512, 5000])
  func secretText(padding: Int) throws {
    let text = String(repeating: "x", count: padding) + "é\"\\\u{0}\u{1F}\u{7F}\n😀"
    let object = written(.object { Field("s", .secretText(box(Array(text.utf8)))) })
    let read = try #require(try JSONSerialization.jsonObject(with: Data(object)) as? [String: String])
    expect(read["s"], equals: text)
  }

  @Test("UTF-8 is told from what is none as Swift tells it")
  func utf8() {
    var generator = SeededGenerator()
    var valid = 0
    for _ in 0..<50_000 {
      let alphabet: [UInt8] = [
        0x41, 0x80, 0xBF, 0x9F, 0xA0, 0xC1, 0xC2, 0xE0, 0xED, 0xEE, 0xF0, 0xF4, 0xF5, 0x90, 0x8F,
      ]
      let bytes = (0..<Int.random(in: 0...4, using: &generator)).map { _ in
        alphabet.randomElement(using: &generator)!
      }
      let expected = String(validating: bytes, as: UTF8.self) != nil
      valid += expected ? 1 : 0
      let found = box(bytes).expose { UTF8Text.isValid($0) }
      expect(found, equals: expected, "\(bytes)")
    }
    #expect(valid > 100)
  }
}
