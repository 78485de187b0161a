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
}
