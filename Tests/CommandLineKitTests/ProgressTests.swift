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
}
