import CommandLineKit
import SecretMemory
import TestSupport
import Testing
import VaultCommands
import VaultKit

/// Verified to fail when a value that only contains a reference is resolved, and when a line is counted wrongly.
@Suite("Files of variables", .bounded)
struct EnvironmentFileTests {
  /// Each variable with its text, or with the reference in angle brackets.
  private func read(_ text: String) throws(CommandError) -> [String] {
    try EnvironmentFile(SharedSecret(SecretBytes(copying: Array(text.utf8)))).handovers.map { handover in
      guard case .value(let name) = handover.place else { return "no variable" }
      switch handover.source {
      case .text(let text):
        return "\(name)="
          + text.expose { unsafe $0.withUnsafeBytes { String(decoding: unsafe Array($0), as: UTF8.self) } }
      case .vault(.field(let reference)): return "\(name)=<\(reference.name)/\(reference.field)>"
      case .vault(.secret): return "a name"
      }
    }
  }

  @Test("lines are variables, and what is no reference as a whole is passed as it is")
  func lines() throws {
    let text = """
      \u{FEFF}# a remark=vaultctl://db

      A=vaultctl://db/password
        B_2=vaultctl://web/shop/notes\r
      \t# another
      C=plain # no remark
      D=
      E= vaultctl://db
      F="quoted" \\n $HOME {{ vaultctl://db }}
      G=postgres://u:vaultctl://db@h=x
      _H=op://a/b/c
      """
    try expect(
      read(text),
      equals: [
        "A=<db/password>", "B_2=<web/shop/notes>", "C=plain # no remark", "D=", "E= vaultctl://db",
        "F=\"quoted\" \\n $HOME {{ vaultctl://db }}", "G=postgres://u:vaultctl://db@h=x", "_H=op://a/b/c",
      ])
    try expect(read(""), equals: [])
    try expect(read("\n \n#\n"), equals: [])
  }

  @Test(
    "a line that is neither is refused, with its number",
    arguments: [
      ("A", "line 1", "has no ="), ("A=1\n\nexport B=2", "line 3", "names no variable"),
      ("=x", "line 1", "names no variable"),
      ("A =x", "line 1", "names no variable"), ("1A=x", "line 1", "names no variable"),
      ("A-B=x", "line 1", "names no variable"),
      ("Ä=x", "line 1", "names no variable"), ("\n\nA=vaultctl://", "line 3", "has no name"),
      ("A=vaultctl://db ", "line 1", "has a space"), ("A=vaultctl://db # x", "line 1", "has a space"),
      ("A=vaultctl:db", "line 1", "does not begin with"), ("A=VAULTCTL://db", "line 1", "in small letters"),
      ("A=\"vaultctl://db\"", "line 1", "in quotes"), ("A='vaultctl://db'", "line 1", "in quotes"),
      ("A=vaultctl://%", "line 1", "hexadecimal"), ("A\u{0}=x", "line 1", "names no variable"),
    ])
  func refused(text: String, line: String, why: String) {
    let error = #expect(throws: CommandError.self) { try read(text) }
    #expect(error?.exit == .malformed)
    let message = error?.message ?? ""
    #expect(message.hasPrefix("\(line) of the file of --env-file") && message.contains(why), "\(message)")
  }

  @Test("a value is not repeated in an error, and a file of 16-bit characters is refused")
  func values() {
    let error = #expect(throws: CommandError.self) { try read("A=1\nhunter2") }
    #expect(error?.message.contains("hunter2") == false)
    #expect(throws: CommandError.self) {
      try EnvironmentFile(SharedSecret(SecretBytes(copying: [0xFF, 0xFE, 0x41, 0, 0x3D, 0])))
    }
  }
}
