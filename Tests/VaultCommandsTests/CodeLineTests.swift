import Foundation
import TestSupport
import Testing

/// How a code is written.
@Suite("Codes at a terminal", .bounded)
struct CodeLineTests {
  @Test(
    "on a terminal the digits are in groups, with the seconds that are left; in a pipe the code is bare",
    arguments: [
      ("totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", "", #"[0-9]{3} [0-9]{3}  \(20 s\)"#),
      ("totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", "--at 59", #"287 082\r\n"#),
      ("totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", "--next", #"[0-9]{3} [0-9]{3}\r\n"#),
      ("totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&digits=8", "", #"[0-9]{4} [0-9]{4}  \(20 s\)"#),
      ("hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0", "", #"755 224\r\n"#),
    ])
  func line(uri: String, options: String, pattern: String) throws {
    let tool = try Tool()
    expect(0, try tool("init", "--no-passcode"))
    expect(0, try tool("otp", "add", "x", input: Array("otpauth://\(uri)".utf8)))
    let screen = try PseudoTerminal()
    let running = try tool.start(
      shell: "/bin/sh", ["-c", "\"$T\" code x \(options); echo end=$?."], on: screen)
    try screen.wait(for: "end=0.")
    try expect(running.wait(), equals: 0)
    #expect(screen.transcript.range(of: pattern, options: .regularExpression) != nil, "\(screen.transcript)")
    let piped = try tool.run(["code", "x"] + options.split(separator: " ").map(String.init))
    #expect(piped.text.range(of: "^[0-9]{6,8}\n$", options: .regularExpression) != nil, "\(piped.text)")
  }
}
