import CommandLineKit
import TestSupport
import Testing

@Suite("Words that were typed, in messages", .bounded)
struct TypedWordTests {
  @Test("a word is shown in quotes, and one that is long is cut by its code points and says so")
  func long() {
    expect(quoted("fnid"), equals: "'fnid'")
    expect(quoted(""), equals: "''")
    for word in [
      String(repeating: "a", count: 10_240), "e" + String(repeating: "\u{301}", count: 5000),
      String(repeating: "界", count: 3000), String(repeating: "👩‍👩‍👧", count: 500),
    ] {
      let shown = quoted(word)
      #expect(shown.utf8.count < 100 && shown.hasSuffix("...' (\(word.utf8.count) bytes)"), "\(shown)")
    }
    expect(quoted(String(repeating: "a", count: 64)).utf8.count, equals: 66)
  }

  @Test("a word is offered for copying only where each shell reads it as itself")
  func typable_() {
    for word in ["mail", "work/mail", "a.b_c-d", "me@example.org", "50%", "größe", "a:b"] {
      expect(typable(word), equals: word)
    }
    for word in ["two words", "a&b", "x;y", "(a)", "~", "a*", "#1", "a=b"] {
      expect(typable(word), equals: "\"\(word)\"")
    }
    for word in [
      "", "a'b", "a\"b", "$HOME", "`x`", "a\\b", "hey!", "a\nb", "a\u{1B}[31m", "a\u{202E}b", "a\u{200B}b",
      String(repeating: "a", count: 65),
    ] { #expect(typable(word) == nil, "\(word)") }
  }

  @Test("two letters that were exchanged are one slip")
  func distance() {
    let cases = [
      ("find", "fnid", 1), ("ls", "sl", 1), ("status", "sttaus", 1), ("backup", "bakcup", 1),
      ("edit", "init", 2),
      ("get", "get", 0), ("", "abc", 3), ("abc", "", 3), ("copy", "cpoy", 1), ("remove", "rmeove", 1),
    ]
    for (left, right, distance) in cases {
      expect(editDistance(from: left, to: right), equals: distance, "\(left) \(right)")
    }
    expect(editDistance(from: "a", to: String(repeating: "a", count: 10_240)), equals: .max)
  }
}
