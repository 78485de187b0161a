import Foundation
import TestSupport
import Testing

extension Tool {
  /// What a shell shows of a command on a terminal that is its standard input, output and error, and its exit code.
  func onScreen(
    _ words: String, _ variables: [String: String] = [:], columns: UInt16 = 80, rows: UInt16 = 24
  ) throws -> (text: String, exit: String) {
    let screen = try PseudoTerminal()
    var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    let terminal = unsafe open(screen.path, O_RDWR | O_NOCTTY)
    unsafe expect(ioctl(terminal, UInt(TIOCSWINSZ), &size), equals: 0)
    let own = ["T": Self.path, "TERM": "xterm"].merging(variables) { $1 }
    let script = "\"$T\" \(words); echo \"END=$?.\""
    var child = Child("/bin/sh", ["-c", script], environment.merging(own) { $1 })
    child.leadsSession = true
    for descriptor in Int32(0)...2 { child.open(descriptor, screen.path, flags: O_RDWR) }
    let running = try child.start()
    try screen.wait(for: /END=[0-9]+\./)
    try running.wait()
    close(terminal)
    let parts = screen.transcript.replacing("\r\n", with: "\n").components(separatedBy: "END=")
    return (parts[0], String(parts[1].prefix { $0 != "." }))
  }
}
