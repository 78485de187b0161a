import TestSupport
import Testing

/// What makes a test fail by chance, or pass without having looked, is refused in the text of the tests.
///
/// What to do instead:
///
/// - Not to test something here: `skip(.root, …)` and its like, for what a machine may lack (`Machine.swift` in TestSupport).
///   An absent program is no such thing, the test fails. What an argument is not for is filtered out of the arguments.
/// - To wait: `waitUntil` or a pipe, an `AsyncStream`, a semaphore. What must not happen is looked for after an event that comes
///   later, or where it would happen.
/// - To have many at one moment: `Crowd`, and a place where they meet.
/// - Time: the code under test takes a clock, and the test moves it (`FixedClock`). A real deadline is given as a tiny one, or as
///   ``patience``, and nothing asks how long it took. "At once" is shown by holding what must not be waited for.
/// - Random choices: `SeededGenerator()`, whose seed the log has, or a fixed seed. A secret to search for: `freshBytes`.
@Suite("Rules for tests", .bounded)
struct TestRulesTests {
  /// Verified to fail when a test returns early, when one sleeps, when a suite has no limit, when one compares times of a real
  /// clock, and when one chooses at random without a seed.
  @Test(
    "no test sleeps, returns early, says that it is skipped, has no limit, starts programs in its own way, or depends on luck"
  )
  func rules() throws {
    var (count, exceptions) = (0, Set<String>())
    for file in try Repository.files(below: "Tests") where file.hasSuffix(".swift") && !Self.isExempt(file) {
      count += 1
      for found in TestRules.violations(in: try Repository.text(file)) {
        let exception = "\(file): \(found.rule.rawValue)"
        guard Self.exceptions[exception] == nil else {
          exceptions.insert(exception)
          continue
        }
        Issue.record("\(file):\(found.line): \(found.rule.rawValue)")
      }
    }
    #expect(count > 300)
    expect(exceptions, equals: Set(Self.exceptions.keys), "an exception that nothing needs goes")
  }

  /// Files and the rules that they may break, with the reason.
  private static let exceptions = [
    "Tests/ReadmeTests/VaultLifeTests.swift: \(TestRule.clock.rawValue)":
      "an item of a program that expires in an hour by the clock of the machine"
  ]

  /// The one place that waits, programs that are no tests, an example that a guide shows, and the sources of these rules.
  private static func isExempt(_ file: String) -> Bool {
    file.hasPrefix("Tests/TestSupport/") || file.hasPrefix("Tests/Consumers/")
      || file.hasPrefix("Tests/Tools/")
      || file == "Tests/ReadmeTests/LoginCodeTests.swift"
      || file == "Tests/LayeringTests/TestRulesTests.swift"
  }

  @Test(
    "what breaks a rule is found",
    arguments: [
      "@Suite(\"x\")", "@Suite struct Y {", "    usleep(20)", "    usleep(100_000)",
      "    nanosleep(&time, nil)", "    try await Task.sleep(for: .seconds(1))",
      "    Thread.sleep(forTimeInterval: 1)", "  \"until [ -e go ]; do sleep 0.05; done\"", "  time.sleep(9)",
      "    let process = Process()", "    print(\"skipped: no gdb\")", "    print(\"NOT RUN: no root\")",
      "    let start = ContinuousClock.now", "    while Date() < end {",
      "    let now = SystemClock().now().seconds",
      "    guard done.wait(timeout: .now() + 5) == .success else {", "      alarm(60)",
      "  end = time.monotonic() + 5",
      "    let place = Int.random(in: 0..<bytes.count)", "    let isOdd = Bool.random()",
      "    for name in names.shuffled() {", "    let one = names.randomElement()!",
      "    var generator = SystemRandomNumberGenerator()",
    ])
  func found(line: String) { expect(TestRules.violations(in: line).count, equals: 1, "\(line)") }

  @Test(
    "what breaks none is not",
    arguments: [
      "@Suite(\"x\", .bounded)", "@Suite(.bounded, .serialized)", "exec sleep 600", "sleep infinity",
      "    time.sleep(600)", "    @Test(\"no process sleeps\")", "    if match.hasPrefix(\"@Suite\") {",
      "    let place = Int.random(in: 0..<bytes.count, using: &random)", "    let now = clock.now().seconds",
      "    let one = names.randomElement(using: &random)!", "  func random(round: UInt64) {",
      "    let day = Date(timeIntervalSince1970: 0)", "    case \"gettimeofday\", \"alarm\":",
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
          guard case .point(let place) = number else {
            Issue.record("no point")
            return
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
    expect(TestRules.violations(in: source).map(\.line), equals: [5, 8, 21])
  }
}

/// Each in the words of its failure.
private enum TestRule: String {
  case limit = "a suite without .bounded"
  case sleep = "a test that sleeps: wait for an event (Tests/TestSupport/Waiting.swift)"
  case program = "a program that is started by neither Program nor Child"
  case silentSkip = "a test that skips in silence: skip(…)"
  case earlyReturn = "a test that returns early: fail, or skip(…)"
  case clock = "a test that reads a real clock: give the code one, or wait for an event"
  case chance = "a random choice that no log can repeat: SeededGenerator(), or freshBytes(…)"
}

private enum TestRules {
  static func violations(in source: String) -> [(line: Int, rule: TestRule)] {
    let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
    return lines.indices.flatMap { number in
      // The words of a suite may begin on the next line.
      let isUnbounded = !lines[number...].prefix(2).contains { $0.holds(".bounded") }
      return rules(brokenBy: lines[number], isUnbounded).map { (number + 1, $0) }
    } + earlyReturns(lines)
  }

  private static func rules(brokenBy line: Substring, _ isUnbounded: Bool) -> [TestRule] {
    var broken: [TestRule] = []
    if line.holds("@Suite"), !line.holds("\"@Suite"), isUnbounded { broken.append(.limit) }
    if line.holds("leep"),
      line.contains(shortSleep) || line.firstMatch(of: sleep).map({ isShort($0.1) }) == true
    {
      broken.append(.sleep)
    }
    if line.holds("Process"), line.contains(/\bProcess(?:\.run)?\(/) { broken.append(.program) }
    if line.holds("print("), line.contains(silentSkip) { broken.append(.silentSkip) }
    if clocks.contains(where: { line.holds($0) }) { broken.append(.clock) }
    if chances.contains(where: { line.holds($0) }) || line.holds("random(in:") && !line.holds("using:") {
      broken.append(.chance)
    }
    return broken
  }

  /// Of Swift, of C, and of Python inside of tests.
  private static let clocks = [
    "ContinuousClock", "SuspendingClock", "Date()", "Date.now", "DispatchTime", "timeout: .now()",
    "deadline: .now()", "SystemClock().now", "SystemClock().bootMilliseconds", "systemUptime",
    "clock_gettime(",
    "gettimeofday(", "alarm(", "time.time()", "time.monotonic()",
  ]
  private static let chances = [
    "SystemRandomNumberGenerator", "shuffled()", "shuffle()", "randomElement()", "Bool.random()",
    "arc4random",
  ]

  /// `Task.sleep(`, `time.sleep(600)`, `sleep 0.05`; a program that sleeps for a minute or longer hangs on purpose.
  private static var sleep: Regex<(Substring, Substring?)> {
    /(?:^|[^\w])sleep(?:\(| +(?=[0-9]))(?:for[^)]*)?([0-9.]+)?/
  }
  /// What takes parts of a second, and is not the name of a system call in a text.
  private static var shortSleep: Regex<Substring> { /(?:\busleep|(?:^|[^\w",])(?:clock_)?nanosleep)\(/ }

  private static func isShort(_ seconds: Substring?) -> Bool { (seconds.flatMap { Double($0) } ?? 0) < 60 }
  private static var silentSkip: Regex<Substring> { /print\("[^"]*(?:[sS]kipped|SKIPPED|NOT [A-Z]+)/ }

  /// The layout is checked by `scripts/format`, so the depth of a line says what contains it.
  private static func earlyReturns(_ lines: [Substring]) -> [(line: Int, rule: TestRule)] {
    var found: [(Int, TestRule)] = []
    for start in lines.indices where lines[start].holds("@Test") {
      guard let first = lines[start...].firstIndex(where: { $0.contains(function) }) else { continue }
      let depth = lines[first].prefix { $0 == " " }
      guard !lines[first].hasSuffix("}"),
        let last = lines[first...].firstIndex(where: { $0.hasPrefix(depth + "}") })
      else { continue }
      for number in first..<last where isEarlyReturn(number, lines[first..<last]) {
        found.append((number + 1, .earlyReturn))
      }
    }
    return found
  }

  private static var function: Regex<Substring> { /^ *(?:\w+ )*func [`\w]+/ }

  /// Whether a line returns nothing, has not failed the test before, and nothing but conditions and loops are between it and the
  /// function.
  private static func isEarlyReturn(_ number: Int, _ body: ArraySlice<Substring>) -> Bool {
    let line = body[number]
    guard line.holds("return"), let match = line.firstMatch(of: bareReturn) else { return false }
    if number > body.startIndex, body[number - 1].holds(" Issue.record(") { return false }
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
