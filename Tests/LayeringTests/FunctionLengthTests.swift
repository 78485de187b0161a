import TestSupport
import Testing

@Suite("Functions of tests", .bounded)
struct FunctionLengthTests {
  private static let most = 40

  /// Verified to fail when a function of 41 lines is added.
  @Test("no function below Tests is longer than 40 lines, from its first line to its closing brace")
  func lengths() throws {
    var count = 0
    for file in try Repository.files(below: "Tests") where file.hasSuffix(".swift") {
      for function in Functions.all(in: try Repository.text(file)) {
        count += 1
        #expect(function.lines <= Self.most, "\(file):\(function.start) has \(function.lines) lines")
      }
    }
    #expect(count > 1_000)
  }

  @Test("the lines of a function are counted, whatever is nested in it")
  func counting() {
    let source = """
      struct Example {
        @Test("a name")
        func first(
          _ value: Int
        ) throws {
          func nested() {
            if value > 0 {
            }
          }
        }
        var other: Int { 1 }
        init() { }
      }
      """
    expect(Functions.all(in: source).map(\.lines), equals: [8, 4, 1])
    expect(Functions.all(in: source).map(\.start), equals: [3, 6, 12])
  }
}

/// The functions and initializers of a source whose layout `scripts/format` has checked.
private enum Functions {
  static func all(in source: String) -> [(start: Int, lines: Int)] {
    let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
    return lines.indices.compactMap { first in
      let line = lines[first]
      // The search for the words first: the regular expression is slow.
      guard line.holds("func ") || line.holds("init"), line.contains(declaration) else { return nil }
      if line.hasSuffix("}") { return (first + 1, 1) }
      let end = line.prefix { $0 == " " } + "}"
      guard let last = lines[first...].firstIndex(where: { $0.hasPrefix(end) }) else { return nil }
      return (first + 1, last - first + 1)
    }
  }

  private static var declaration: Regex<Substring> {
    /^ *(?:@\w+(?:\([^)]*\))? )*(?:\w+ )*(?:func [`\w]+|init[?]?) ?[<(]/
  }
}
