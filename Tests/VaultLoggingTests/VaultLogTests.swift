import Foundation
import Synchronization
import TestSupport
import Testing
import VaultLogging

/// Verified to fail when the first sink gets a line before the mask, when all levels are on, and when a value is written as
/// it is.
@Suite("Lines of the log", .bounded, .requirement("D8"))
struct VaultLogTests {
  /// A sink that keeps its lines.
  private final class Kept: Sendable {
    private let all = Mutex<[VaultLog.Line]>([])
    var lines: [VaultLog.Line] { all.withLock { $0 } }
    var sink: VaultLog.Sink { VaultLog.Sink { line in self.all.withLock { $0.append(line) } } }
  }

  private let log = LogSwitch()
  private let kept = Kept()

  private func write(
    _ tag: VaultLog.Tag = .authFlow, _ level: VaultLog.Level = .info, _ message: VaultLog.Message
  ) {
    log.log(level, tag, { message })
  }

  @Test("a line has its time, process, thread, tag, level, file, line and text")
  func shape() throws {
    log.start([.authHTTP], level: .info, to: [kept.sink])
    log.log(.warning, .authHTTP, { "answered in \(Duration.milliseconds(1234)): \(Int32(-7)), \(true)" })
    let line = try #require(kept.lines.first)
    let shape =
      /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z [^\[\] ]+\[\d+:\d+\] \[AUTH_HTTP\] \[WARNING\] VaultLogTests\.\d+ : answered in 1234 ms: -7, true/
    #expect(line.description.wholeMatch(of: shape) != nil, "\(line)")
    #expect(line.tag == .authHTTP && line.level == .warning && line.file == "VaultLogTests")
    #expect(line.description.contains("[\(getpid()):"))
  }

  @Test("nothing is logged without tags, without sinks, and after the stop")
  func off() {
    for start in [
      {}, { log.start([], level: .debug, isUnmasked: true, to: [kept.sink]) },
      { log.start([.authFlow], level: .debug, isUnmasked: true, to: []) },
      {
        log.start([.authFlow], level: .debug, to: [kept.sink])
        log.stop()
      },
    ] as [() -> Void] {
      start()
      for tag in VaultLog.Tag.allCases { for level in VaultLog.Level.allCases { write(tag, level, "text") } }
      #expect(kept.lines.isEmpty)
    }
  }

  @Test("the log of a command gets the lines of its own thread, and ends with the command")
  func commands() {
    let logs = [Kept(), Kept()]
    let crowd = Crowd()
    crowd.run(2) { number in
      VaultLog.during([.authFlow], level: .info, isUnmasked: false, to: [logs[number].sink]) {
        crowd.meet()
        VaultLog.info(.authFlow, "of \(number)")
        VaultLog.debug(.authFlow, "too fine")
        VaultLog.info(.authHTTP, "another tag")
      }
      VaultLog.info(.authFlow, "after the command")
    }
    expect(logs.map { $0.lines.map(\.text) }, equals: [["of 0"], ["of 1"]])
  }

  @Test("the text of a line that is off is not made")
  func lazy() {
    var made = 0
    func text() -> VaultLog.Message {
      made += 1
      return "text"
    }
    log.start([.authFlow], level: .info, to: [kept.sink])
    log.log(.debug, .authFlow, text)
    log.log(.error, .authHTTP, text)
    #expect(made == 0 && kept.lines.isEmpty)
    log.log(.info, .authFlow, text)
    #expect(made == 1 && kept.lines.count == 1)
  }

  @Test("a level is on with all that are more important", arguments: VaultLog.Level.allCases)
  func levels(level: VaultLog.Level) {
    log.start([.authFlow], level: level, to: [kept.sink])
    for other in VaultLog.Level.allCases { write(.authFlow, other, "text") }
    expect(kept.lines.map(\.level), equals: VaultLog.Level.allCases.filter { $0 <= level })
  }

  @Test(
    "a word of a filter is a tag or the beginning of tags",
    arguments: [
      ("AUTH", [.authFlow, .authHTTP, .authOAuth, .authCrypto]), ("VAULT_S", [.vaultStorage]),
      ("VAULT_ACCESS,AUTH_H", [.vaultAccess, .authHTTP]), ("AUTH_FLOW", [.authFlow]),
      ("", nil), ("AUTH,", nil), ("auth", nil), ("AUTH_FLOWS", nil), ("HTTP", nil), (" AUTH", nil),
    ] as [(String, Set<VaultLog.Tag>?)])
  func filters(list: String, tags: Set<VaultLog.Tag>?) {
    expect(VaultLog.Tag.named(list), equals: tags)
  }

  @Test("only the tags that were named have lines")
  func tags() {
    log.start([.vaultAccess, .authHTTP], level: .debug, to: [kept.sink])
    for tag in VaultLog.Tag.allCases { write(tag, .debug, "text") }
    expect(kept.lines.map(\.tag), equals: [.vaultAccess, .authHTTP])
  }

  @Test("names and addresses are masked, for every sink alike")
  func masked() {
    let other = Kept()
    log.start([.authFlow], level: .info, to: [kept.sink, other.sink])
    write(.authFlow, .info, "\(name: "canary-anna") took 3 of \(address: "canary.example/x"), \(name: nil)")
    for sink in [kept, other] {
      expect(sink.lines.map(\.text), equals: ["<name> took 3 of <address>, -"])
      #expect(!sink.lines.contains { $0.description.contains("canary") })
    }
    expect(kept.lines.map(\.description), equals: other.lines.map(\.description))
  }

  @Test("unmasking shows names and addresses, after two lines that warn")
  func unmasked() {
    log.start([.authFlow], level: .info, isUnmasked: true, to: [kept.sink])
    write(.authFlow, .info, "\(name: "Anna") at \(address: "/tmp/v")")
    #expect(kept.lines.count == 3 && kept.lines[2].text == "Anna at /tmp/v")
    expect(
      kept.lines.map { $0.description.contains(" [UNSECURED] [WARNING] ") }, equals: [true, true, false])
    expect(kept.lines.map(\.tag), equals: [nil, nil, .authFlow])
  }

  @Test(
    "no value begins a line or looks like another one",
    arguments: [
      ("a\nb", "a\\u{a}b"), ("a\r\u{1B}[2K", "a\\u{d}\\u{1b}[2K"),
      ("\u{2028}\u{2029}\u{85}", "\\u{2028}\\u{2029}\\u{85}"),
      ("\u{202E}x\u{0}", "\\u{202e}x\\u{0}"), ("\\u{a}", "\\\\u{a}"), ("Zoë 名", "Zoë 名"),
    ])
  func controlCharacters(value: String, shown: String) {
    log.start([.authFlow], level: .info, isUnmasked: true, to: [kept.sink])
    write(.authFlow, .info, "\(name: value)")
    expect(kept.lines.last?.text, equals: shown)
  }

  @Test("a long value is cut")
  func long() {
    log.start([.authFlow], level: .info, isUnmasked: true, to: [kept.sink])
    write(.authFlow, .info, "\(name: String(repeating: "x", count: 1 << 20))")
    expect(kept.lines.last?.text, equals: String(repeating: "x", count: 200) + "…")
  }

  @Test("a descriptor gets whole lines, and a closed one stops nothing")
  func descriptor() throws {
    let pipe = Pipe()
    log.start(
      [.authFlow], level: .info,
      to: [.descriptor(-1), .descriptor(pipe.fileHandleForWriting.fileDescriptor), kept.sink])
    write(.authFlow, .info, "one")
    write(.authFlow, .info, "two")
    log.stop()
    try pipe.fileHandleForWriting.close()
    let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    expect(text, equals: kept.lines.map { "\($0)\n" }.joined())
    expect(kept.lines.map(\.text), equals: ["one", "two"])
  }
}
