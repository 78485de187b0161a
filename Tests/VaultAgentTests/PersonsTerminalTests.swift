import Foundation
import TestSupport
import Testing
import VaultAgent

@Suite("The terminal of a person", .bounded, .requirement("G16"))
struct PersonsTerminalTests {
  @Test("the kernel names the terminal of a process, which is gone with its session")
  func controlling() throws {
    let screen = try PseudoTerminal()
    var child = Child("/usr/bin/tail", ["-f", "/dev/null"], [:])
    child.leadsSession = true
    child.open(0, screen.path, flags: O_RDWR)
    let running = try child.start()
    let terminal = try #require(PersonsTerminal(controlling: running.pid, started: nil))
    expect(terminal.path, equals: screen.path)
    #expect(terminal.isThere)
    running.end()
    #expect(!terminal.isThere)
    #expect(PersonsTerminal(controlling: running.pid, started: nil) == nil)
  }

  @Test("a process of the same number that started at another time is another one")
  func otherProcess() throws {
    let screen = try PseudoTerminal()
    var child = Child("/usr/bin/tail", ["-f", "/dev/null"], [:])
    child.leadsSession = true
    child.open(0, screen.path, flags: O_RDWR)
    let running = try child.start()
    #expect(PersonsTerminal(controlling: running.pid, started: 1) == nil)
    #expect(running.isRunning)
  }

  @Test("a process without a terminal has none")
  func none() throws {
    var child = Child("/usr/bin/tail", ["-f", "/dev/null"], [:])
    child.leadsSession = true
    child.open(0, "/dev/null")
    let running = try child.start()
    #expect(PersonsTerminal(controlling: running.pid, started: nil) == nil)
    #expect(running.isRunning)
  }

  @Test("a file, a device that is no terminal, and nothing are no terminals")
  func others() throws {
    let screen = try PseudoTerminal()
    #expect(PersonsTerminal(path: screen.path).isThere)
    for path in ["/dev/null", "/etc/passwd", "/nonexistent"] { #expect(!PersonsTerminal(path: path).isThere) }
  }
}
