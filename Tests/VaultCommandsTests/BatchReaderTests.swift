import CommandLineKit
import Foundation
import SecretMemory
import Testing
import TestSupport
import VaultCommands

@Suite("Lines of a batch", .bounded)
struct BatchReaderTests {
  private func bytes(of box: SharedSecret?) -> [UInt8]? {
    box?.expose { span in
      (0..<span.byteCount).map { unsafe span.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
    }
  }

  private func first(_ text: String) throws -> BatchLine? {
    let scratch = try Scratch(Array(text.utf8))
    return try BatchReader(descriptor: scratch.descriptor).next()
  }

  @Test("words and data are read with all escapes")
  func escapes() throws {
    let line = try first(
      ##"  { "stdin" : "a\"\\\/\b\f\n\r\té😀é\u0000" , "args":["add","n\u00e4me"] }"##)
    expect(line?.words, equals: ["add", "näme"])
    expect(bytes(of: line?.input), equals: Array("a\"\\/\u{8}\u{C}\n\r\té😀é\0".utf8))
  }

  @Test("data of every length comes from its base64", arguments: 0..<20)
  func base64(count: Int) throws {
    let data = (0..<count).map { UInt8($0 * 13) }
    let line = try first(#"{"args":[],"stdinBase64":"\#(Data(data).base64EncodedString())"}"#)
    expect(bytes(of: line?.input), equals: data)
  }

  @Test("a mebibyte passes, a byte more is malformed")
  func limits() throws {
    let text = String(repeating: "x", count: 1 << 20)
    #expect(bytes(of: try first(#"{"args":[],"stdin":"\#(text)"}"#)?.input)?.count == 1 << 20)
    #expect { try first(#"{"args":[],"stdin":"\#(text)y"}"#) } throws: {
      ($0 as? CommandError)?.exit == .malformed
    }
  }

  @Test("lines follow one another, empty ones are passed over, a bad one can be left behind")
  func lines() throws {
    let scratch = try Scratch(Array("\n{\"args\":[\"a\"]}\r\n\n{\"args\":[}\n{\"args\":[\"b\"]}".utf8))
    let reader = BatchReader(descriptor: scratch.descriptor)
    try expect(reader.next()?.words, equals: ["a"])
    #expect(throws: CommandError.self) { try reader.next() }
    try reader.skipLine()
    try expect(reader.next()?.words, equals: ["b"])
    #expect(try reader.next()?.words == nil)
  }

  @Test(
    "anything else is malformed, and what it says stays unsaid",
    arguments: [
      "[]", "{}", "{", "x", #"{"args":["CANARY"]"#, #"{"args":["CANARY""#, #"{"args":["CANARY"]} CANARY"#,
      #"{"args":["a"],"args":["b"]}"#, #"{"args":["a"],"other":"CANARY"}"#, #"{"args":"CANARY"}"#,
      #"{"args":[1]}"#,
      #"{"args":[["CANARY"]]}"#, #"{"args":[],"stdin":null}"#,
      #"{"args":[],"stdin":"a","stdinBase64":"YQ=="}"#,
      #"{"args":[],"stdinBase64":"CANARY*"}"#, #"{"args":[],"stdinBase64":"YQ="}"#,
      #"{"args":[],"stdinBase64":"YR=="}"#,
      #"{"args":[],"stdinBase64":"YQ==YQ=="}"#, #"{"args":[],"stdinBase64":"Y"}"#,
      #"{"args":[],"stdinBase64":"===="}"#,
      #"{"args":[],"stdin":"\ud800"}"#, #"{"args":[],"stdin":"\udc00\ud800"}"#,
      #"{"args":[],"stdin":"\ud800A"}"#,
      #"{"args":[],"stdin":"\x"}"#, #"{"args":[],"stdin":"\u12"}"#, "{\"args\":[],\"stdin\":\"a\nb\"}",
      "{\"args\":\n[]}", #"{"args":["a",]}"#, #"{"args":["a"],}"#, #"{"args" ["a"]}"#,
    ])
  func malformed(text: String) throws {
    #expect { try first(text) } throws: { error in
      guard let error = error as? CommandError else { return false }
      return error.exit == .malformed && !(error.message + (error.hint ?? "")).contains("CANARY")
    }
  }

  @Test("bytes that are no UTF-8 are malformed")
  func invalidUTF8() throws {
    for text in [
      Array(#"{"args":[""#.utf8) + [0xFF] + Array(#""]}"#.utf8),
      Array(#"{"args":[],"stdin":""#.utf8) + [0xC3] + Array(#""}"#.utf8),
    ] {
      let scratch = try Scratch(text)
      #expect(throws: CommandError.self) { try BatchReader(descriptor: scratch.descriptor).next() }
    }
  }

  @Test("no mutation of a line makes the reader fail in another way than it may")
  func mutations() throws {
    let line = Array(#"{"args":["add","n"],"stdin":"sec\u00e9\n","x":1}"#.utf8)
    var random = SeededGenerator()
    for index in 0..<20_000 {
      var bytes = line
      for _ in 0...index % 3 {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch index % 4 {
        case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1: bytes.remove(at: place)
        case 2: bytes.insert(bytes.randomElement(using: &random)!, at: place)
        default: bytes.removeLast(min(bytes.count - 1, Int.random(in: 0..<5, using: &random)))
        }
      }
      let scratch = try Scratch(bytes)
      do {
        _ = try BatchReader(descriptor: scratch.descriptor).next()
      } catch {
        expect(error.exit, equals: .malformed)
      }
    }
  }
}
