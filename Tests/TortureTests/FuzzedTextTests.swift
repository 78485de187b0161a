import Foundation
import TestSupport
import Testing
import VaultFuzzing
import VaultTestKit

extension Torture {
  /// Would fail when a member that nothing depends on is read as JSON, when a life has no bound, when a malformed answer is
  /// retryable, and when the reader of lines does not move on. Verified to fail when a session of 513 bytes is read, and when a
  /// name of capital letters is shown.
  @Suite("Texts of others", .bounded, .serialized)
  struct FuzzedTexts {
    private static func corpus(of text: FuzzedText) throws -> [(name: String, bytes: [UInt8])] {
      let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      let folder = tests.appendingPathComponent("Vectors/fuzz/\(text.rawValue)")
      return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        .sorted { $0.path < $1.path }
        .map { ($0.lastPathComponent, Array(try Data(contentsOf: $0))) }
    }

    @Test("what found a way through a reader is read again", arguments: FuzzedText.allCases)
    func replayed(text: FuzzedText) throws {
      let corpus = try Self.corpus(of: text)
      #expect(corpus.count > 15)
      for (name, bytes) in corpus {
        let fault = text.fault(of: bytes)
        #expect(fault == nil, "\(name): \(fault ?? "")")
      }
    }

    @Test("an altered text is taken or refused as the rules say", arguments: FuzzedText.allCases)
    func altered(text: FuzzedText) throws {
      var mutator = TextMutator(try Self.corpus(of: text).map(\.bytes), seed: Scale.seed)
      for number in 0..<Scale.pick(20_000, long: 5_000_000) {
        let bytes = mutator.next()
        guard let fault = text.fault(of: bytes) else { continue }
        Issue.record("\(number): \(fault): \(Data(bytes).base64EncodedString()), seed \(Scale.seed)")
        return
      }
    }
  }

  /// Texts that are made of others: bytes and pieces that are changed, taken out, doubled, and put into each other.
  struct TextMutator {
    private let corpus: [[UInt8]]
    private var random: SeededGenerator

    private static let pieces = [
      #"""#, "{", "}", "[", "]", ",", ":", "\\", "\n", "\u{FEFF}", "null", "true", "-1", "1e9", ".0",
      #"\ud800"#,
      "4294967296", "18446744073709551616", #""error":"x""#, #""scope":"#, #""expires_in":"#,
      #""refresh_token":"#,
      #""name":"#, #""secret":"#, #""uri":"#, "\u{200B}", "otpauth://",
    ].map { Array($0.utf8) }

    init(_ corpus: [[UInt8]], seed: UInt64) {
      self.corpus = corpus
      random = SeededGenerator(seed: seed)
    }

    mutating func next() -> [UInt8] {
      var text = corpus.randomElement(using: &random) ?? []
      for _ in 0..<Int.random(in: 1...6, using: &random) { change(&text) }
      return Array(text.prefix(8192))
    }

    private mutating func change(_ text: inout [UInt8]) {
      let start = Int.random(in: 0...text.count, using: &random)
      let end = min(text.count, start + Int.random(in: 0...16, using: &random))
      switch Int.random(in: 0..<6, using: &random) {
      case 0 where start < text.count: text[start] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      case 1: text.removeSubrange(start..<end)
      case 2: text.insert(contentsOf: text[start..<end], at: start)
      case 3: text.insert(UInt8.random(in: 0...255, using: &random), at: start)
      case 4:
        let other = corpus.randomElement(using: &random) ?? []
        text.replaceSubrange(start..<end, with: other.dropFirst(start).prefix(64))
      default: text.insert(contentsOf: Self.pieces.randomElement(using: &random) ?? [], at: start)
      }
    }
  }
}
