import Foundation
import TestSupport
import Testing

@Suite("The sessions of pages", .bounded)
struct SessionTests {
  @Test("a changed word, number or line is noticed")
  func differencesAreFound() {
    #expect(Session.line("code 755224", matches: "code 755224"))
    #expect(!Session.line("code 755224", matches: "code 755225"))
    #expect(Session.line("a 2026-01-02T03:04:05Z b", matches: "a 2030-09-09T00:00:00Z b"))
    #expect(!Session.line("a 2026-01-02 b", matches: "a 2030-09-09T00:00:00Z b"))
    #expect(Session.line("key: one two three", matches: "key: one … three"))
    #expect(!Session.line("key: one two four", matches: "key: one … three"))
    #expect(!Session.line("other: one two three", matches: "key: one … three"))
    #expect(
      Session.line(
        "id 00112233445566778899aabbccddeeff", matches: "id ffeeddccbbaa99887766554433221100"))
    #expect(!Session.line("id 0011", matches: "id ffee"))
  }

  @Test("commands run in order in one shell, and their output is told apart")
  func shell() throws {
    let session = Session("$ x=1\n$ echo \"$x\"\n1\n$ printf 'a\\nb\\n' >&2\na\nb\n$ echo \\\n> two\ntwo\n")
    let run = try session.replay(with: Built.directory)
    expect(run.map(\.output), equals: [[], ["1"], ["a", "b"], ["two"]])
  }
}
