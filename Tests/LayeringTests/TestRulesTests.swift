import TestSupport
import Testing

/// What makes a test fail by chance, or pass without having looked, is refused in the text of the tests.
@Suite("Rules for tests", .bounded)
struct TestRulesTests {
  /// Verified to fail when a test returns early, when one sleeps, and when a suite has no limit.
  @Test(
    "no test sleeps, returns early, says that it is skipped, has no limit or starts programs in its own way")
  func rules() throws {
    var count = 0
    for file in try Repository.files(below: "Tests") where file.hasSuffix(".swift") && !Self.isExempt(file) {
      count += 1
      for found in TestRules.violations(in: try Repository.text(file)) {
        Issue.record("\(file):\(found.line): \(found.rule)")
      }
    }
    #expect(count > 300)
  }

  /// The one place that waits, programs that are no tests, an example that a guide shows, and the sources of these rules.
  private static func isExempt(_ file: String) -> Bool {
    file.hasPrefix("Tests/TestSupport/") || file.hasPrefix("Tests/Consumers/")
      || file == "Tests/ReadmeTests/LoginCodeTests.swift"
      || file == "Tests/LayeringTests/TestRulesTests.swift"
  }

  @Test(
    "what breaks a rule is found",
    arguments: [
      "@Suite(\"x\")", "@Suite struct Y {", "    usleep(20)", "    try await Task.sleep(for: .seconds(1))",
      "    Thread.sleep(forTimeInterval: 1)", "  \"until [ -e go ]; do sleep 0.05; done\"", "  time.sleep(9)",
      "    let process = Process()", "    print(\"skipped: no gdb\")", "    print(\"NOT RUN: no root\")",
    ])
  func found(line: String) { expect(TestRules.violations(in: line).count, equals: 1, "\(line)") }

  @Test(
    "what breaks none is not",
    arguments: [
      "@Suite(\"x\", .bounded)", "@Suite(.bounded, .serialized)", "exec sleep 600", "sleep infinity",
      "    time.sleep(600)", "    @Test(\"no process sleeps\")",
    ])
  func notFound(line: String) { expect(TestRules.violations(in: line).map(\.rule), equals: []) }

  @Test("a test that returns early is found, a closure in it that does is not")
  func returns() {
    let source = """
        @Test("a", arguments: [
          1, 2,
        ])
        func a(number: Int) throws {
          guard number > 1 else { return }
          for _ in 0..<number {
            if number == 2 {
              return print("two")
            }
          }
          let closure = { (number: Int) in
            guard number > 1 else { return }
            if number == 2 { return }
          }
          run { number in return }
          func nested() { return }
          return
        }
        func notATest() {
          if true { return }
        }
      """
    expect(TestRules.violations(in: source).map(\.line), equals: [5, 8, 17])
  }
}

private enum TestRules {
  static func violations(in source: String) -> [(line: Int, rule: String)] {
    let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
    return lines.enumerated().flatMap { number, line in rules(brokenBy: line).map { (number + 1, $0) } }
      + earlyReturns(lines)
  }

  private static func rules(brokenBy line: Substring) -> [String] {
    var broken: [String] = []
    if line.holds("@Suite"), !line.holds(".bounded") { broken.append("a suite without .bounded") }
    if line.holds("leep"), let time = line.firstMatch(of: sleep), (time.1.flatMap { Double($0) } ?? 0) < 60 {
      broken.append("a test that sleeps: wait for an event (Tests/TestSupport/Waiting.swift)")
    }
    if line.holds("Process"), line.contains(/\bProcess(?:\.run)?\(/) {
      broken.append("a program that is started by neither Program nor Child")
    }
    if line.holds("print("), line.contains(silentSkip) {
      broken.append("a test that skips in silence: skip(…)")
    }
    return broken
  }

  /// `usleep(`, `Task.sleep(`, `time.sleep(600)`, `sleep 0.05`; a program that sleeps for a minute or longer hangs on purpose.
  private static var sleep: Regex<(Substring, Substring?)> {
    /[sS]leep(?:\(| +(?=[0-9]))(?:for[^)]*)?([0-9.]+)?/
  }
  private static var silentSkip: Regex<Substring> { /print\("[^"]*(?:[sS]kipped|SKIPPED|NOT [A-Z]+)/ }

  /// The layout is checked by `scripts/format`, so the depth of a line says what contains it.
  private static func earlyReturns(_ lines: [Substring]) -> [(line: Int, rule: String)] {
    var found: [(Int, String)] = []
    for start in lines.indices where lines[start].holds("@Test") {
      guard let first = lines[start...].firstIndex(where: { $0.contains(function) }) else { continue }
      let depth = lines[first].prefix { $0 == " " }
      guard !lines[first].hasSuffix("}"),
        let last = lines[first...].firstIndex(where: { $0.hasPrefix(depth + "}") })
      else { continue }
      for number in first..<last where isEarlyReturn(number, lines[first..<last]) {
        found.append((number + 1, "a test that returns early: fail, or skip(…)"))
      }
    }
    return found
  }

  private static var function: Regex<Substring> { /^ *(?:\w+ )*func [`\w]+/ }

  /// Whether a line returns nothing, and nothing but conditions and loops are between it and the function.
  private static func isEarlyReturn(_ number: Int, _ body: ArraySlice<Substring>) -> Bool {
    let line = body[number]
    guard line.holds("return"), let match = line.firstMatch(of: bareReturn) else { return false }
    let before = line[..<match.range.lowerBound]
    guard before.last(where: { $0 == "{" }) == nil || isCondition(before) else { return false }
    var depth = line.prefix { $0 == " " }.count
    for above in body[body.startIndex..<number].reversed()
    where above.hasSuffix("{") || above.hasSuffix(" in") {
      let own = above.prefix { $0 == " " }.count
      guard own < depth else { continue }
      depth = own
      if above == body.first || isFirst(above, body) { return true }
      if !isCondition(above) { return false }
    }
    return true
  }

  private static func isFirst(_ line: Substring, _ body: ArraySlice<Substring>) -> Bool {
    body.first.map { line.prefix { $0 == " " }.count <= $0.prefix { $0 == " " }.count } ?? false
  }

  private static var bareReturn: Regex<Substring> { /\breturn\b(?: *(?:$|\}|\/\/)| (?:print|skip|report)\()/ }

  private static func isCondition(_ line: Substring) -> Bool { line.contains(condition) }

  private static var condition: Regex<Substring> {
    /^ *(?:\} )?(?:guard|if|else|for|while|repeat|do|catch|switch|case|default)\b(?!.*\bin$)/
  }
}
