import Foundation
import TestSupport
import Testing

@Suite("What fuzzing has found of the parsers", .bounded)
struct ParserCorpusTests {
  /// Verified to fail when a session of 513 bytes is read, and when a name of capital letters is shown.
  @Test("each text of the corpus is refused, or read as it must be", arguments: FuzzedParser.allCases)
  func corpus(_ parser: FuzzedParser) throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Vectors/fuzz/\(parser.rawValue)")
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    #expect(files.count > 10, "the corpus is empty")
    for file in files.sorted(by: { $0.path < $1.path }) {
      let fault = parser.fault(of: Array(try Data(contentsOf: file)))
      #expect(fault == nil, "\(file.lastPathComponent)")
    }
    print("corpus: \(files.count) texts for \(parser.rawValue)")
  }
}
