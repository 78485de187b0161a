import Foundation
import TestSupport
import Testing

@Suite("Transcripts of screens", .bounded)
struct TranscriptTests {
  @Test(
    "every transcript of prompts replays on pseudo-terminals, also by an agent", arguments: [false, true])
  func replay(hasAgent: Bool) throws {
    let folder = Tool.repository.appendingPathComponent("Tests/Transcripts")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
      $0.hasSuffix(".screens")
    }
    #expect(names.count >= 3)
    let tool = try Tool()
    let words = [folder.path + "/screens"] + (hasAgent ? ["--agent"] : []) + [Tool.path]
    let run = try tool.run(words, program: "/usr/bin/python3")
    expect(run.exit, equals: 0, "\(run.text) \(run.errors)")
    expect(run.text.split(separator: "\n").count, equals: names.count)
  }
}
