import CommandLineKit
import Foundation
import TestSupport
import Testing

@Suite("Progress", .bounded)
struct ProgressTests {
  @Test(
    "long work shows a bar on a terminal after a second, takes it away at the end, and shows nothing elsewhere"
  )
  func progress() throws {
    let screen = try PseudoTerminal()
    let terminal = unsafe open(screen.path, O_RDWR | O_NOCTTY)
    var now: Int64 = 5000
    func progress(_ title: String, on descriptor: Int32, isQuiet: Bool = false) -> CommandLineKit.Progress {
      CommandLineKit.Progress(
        of: "vaultctl", title, on: OutputStream(descriptor: descriptor, name: "test"), isQuiet: isQuiet,
        clock: { now })
    }
    let shown = progress("verifying", on: terminal)
    let quiet = progress("quiet", on: terminal, isQuiet: true)
    let scratch = try Scratch()
    let inFile = progress("x", on: scratch.descriptor)
    now += 999
    shown.update(done: 1, of: 4)
    now += 1
    for progress in [shown, quiet, inFile] { progress.update(done: 2, of: 4) }
    for progress in [shown, quiet, inFile] { progress.finish() }
    close(terminal)
    let text = screen.drain()
    let half = String(repeating: "#", count: 15) + String(repeating: ".", count: 15)
    expect(text, equals: "\r\u{1B}[Kvaultctl: verifying [\(half)] 50 % (2 of 4)\r\u{1B}[K", "\(text)")
    #expect(scratch.content.isEmpty)
  }

  @Test("a bar does not go back when the work begins again")
  func forward() throws {
    let screen = try PseudoTerminal()
    let terminal = unsafe open(screen.path, O_RDWR | O_NOCTTY)
    var now: Int64 = 0
    let progress = CommandLineKit.Progress(
      of: "vaultctl", "importing", on: OutputStream(descriptor: terminal, name: "test"), isQuiet: false,
      clock: { now })
    for (done, total) in [(10, 100), (60, 100), (10, 100), (70, 200), (90, 100)] {
      now += 1000
      progress.update(done: done, of: total)
    }
    close(terminal)
    let text = screen.drain()
    let shown = text.matches(of: /(\d+) %/).map { String($0.1) }
    expect(shown, equals: ["10", "60", "60", "60", "90"], "\(text)")
  }

  /// What work on a terminal of this width shows, each form of the line on its own.
  private func lines(
    columns: Int, title: String = "writing the backup", steps: [(Int, Int)], note: String? = nil
  ) throws -> [String] {
    let screen = try PseudoTerminal()
    let terminal = unsafe open(screen.path, O_RDWR | O_NOCTTY)
    var size = winsize(ws_row: 24, ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
    unsafe expect(ioctl(terminal, UInt(TIOCSWINSZ), &size), equals: 0)
    let stream = OutputStream(descriptor: terminal, name: "test")
    var now: Int64 = 0
    let progress = CommandLineKit.Progress(of: "vaultctl", title, on: stream, isQuiet: false, clock: { now })
    for (done, total) in steps {
      now += 1000
      progress.update(done: done, of: total)
    }
    if let note { Messages(of: "vaultctl", to: stream, isJSON: false, escape: { $0 }).note(note) }
    progress.finish()
    close(terminal)
    return screen.drain().components(separatedBy: "\r\u{1B}[K")
  }

  @Test("the line leaves the last column free, whatever the width", arguments: [20, 40, 70, 80, 200])
  func widths(columns: Int) throws {
    for total in [0, 20_000, 4] {
      let shown = try lines(columns: columns, steps: [(1, total), (2304, total), (20_000, total)])
      expect(shown.count, equals: 5, "\(shown)")
      #expect(shown.allSatisfy { $0.count < columns }, "\(shown)")
      #expect(total == 0 || shown[3].contains("100 %"), "\(shown)")
      #expect(total == 0 || columns < 40 || shown[3].contains("[####"), "\(shown)")
    }
  }

  @Test("a total that gets lost is kept, and the fraction never goes back")
  func lostTotal() throws {
    let shown = try lines(columns: 80, steps: [(5, 10), (7, 0), (2, 10), (6, 10)])
    expect(
      shown.compactMap { $0.firstMatch(of: /\d+ %/).map { String($0.0) } },
      equals: ["50 %", "50 %", "50 %", "60 %"])
  }

  @Test("a message clears the line that it interrupts, once")
  func interrupted() throws {
    let shown = try lines(columns: 80, steps: [(1, 2)], note: "a remark")
    expect(shown.count, equals: 3, "\(shown)")
    expect(shown.last, equals: "vaultctl: a remark\r\n")
  }
}
