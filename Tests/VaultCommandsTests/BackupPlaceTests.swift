import Foundation
import TestSupport
import Testing

/// Backups where people keep them: any mode, owner, link, pipe and file system.
///
/// Verified to fail with the tool from before these tests, which refused each of these backups (13) as if it were a vault, and made
/// directories for a disk that was not mounted.
@Suite("Backups where people keep them", .bounded)
struct BackupPlaceTests {
  private static let phrase: [Int32: String] = [3: "long phrase"]

  /// A home with a vault, and a backup `b` of it.
  private func backedUp() throws -> (tool: Tool, backup: String) {
    let tool = try Tool()
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    try expect(tool("add", "mail", input: [1, 2, 3]).exit, equals: 0)
    let path = tool.home.path + "/b"
    let run = try tool("backup", path, "--passphrase-fd", "3", secrets: Self.phrase)
    expect(run.exit, equals: 0, "\(run.errors)")
    return (tool, path)
  }

  /// Restores in an empty home, and reads what was restored. Verifies the backup before.
  private func expectRestored(from path: String, _ what: String) throws {
    let other = try Tool()
    let verified = try other("vault", "check", "--backup", path, "--passphrase-fd", "3", secrets: Self.phrase)
    expect(verified.exit, equals: 0, "\(what): \(verified.errors)")
    let run = try other("restore", path, "--passphrase-fd", "3", secrets: Self.phrase)
    expect(run.exit, equals: 0, "\(what): \(run.errors)")
    try expect(other("get", "mail").output, equals: [1, 2, 3], "\(what)")
    let left = try FileManager.default.contentsOfDirectory(atPath: other.home.path + "/.local/share/vaultctl")
    expect(left, equals: ["default.vault"], "\(what)")
  }

  @Test(
    "a backup of any mode is restored and verified", arguments: [0o644, 0o755, 0o444, 0o660, 0o400, 0o777])
  func modes(mode: Int) throws {
    let (tool, path) = try backedUp()
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    try expectRestored(from: path, String(mode, radix: 8))
    withExtendedLifetime(tool) {}
  }

  @Test("so is one with a second name, and one behind a link")
  func names() throws {
    let (tool, path) = try backedUp()
    try FileManager.default.createSymbolicLink(atPath: path + ".link", withDestinationPath: "b")
    try expectRestored(from: path + ".link", "a link")
    try FileManager.default.linkItem(atPath: path, toPath: path + ".second")
    try expectRestored(from: path, "two names")
    withExtendedLifetime(tool) {}
  }

  @Test("so is one of another user")
  func owner() throws {
    try needRoot("a backup of another user")
    let (tool, path) = try backedUp()
    unsafe expect(chown(path, 65534, 65534), equals: 0)
    try expectRestored(from: path, "another owner")
    withExtendedLifetime(tool) {}
  }

  @Test("a backup comes through a pipe: a FIFO, /dev/stdin, -, and a process substitution")
  func pipes() throws {
    let (tool, path) = try backedUp()
    let script = """
      mkfifo "$1.fifo"; home=$HOME
      try() { export HOME=$home/$1; mkdir -m 700 "$HOME"; "$0" restore "$2" --passphrase-file "$home/phrase" > /dev/null && "$0" item get mail | od -An -tx1; }
      (cat "$1" > "$1.fifo" &) && try 1 "$1.fifo"
      try 2 /dev/stdin < "$1"; cat "$1" | try 3 /dev/stdin; cat "$1" | try 4 -; try 5 <(cat "$1")
      cat "$1" | "$0" vault check --backup - --passphrase-file "$home/phrase" | tail -1
      """
    _ = try tool.file("phrase", "long phrase")
    let run = try tool.run(["-c", script, Tool.path, path], program: Shell.need("bash"))
    expect(
      run.text, equals: String(repeating: " 01 02 03\n", count: 5) + "everything is sound\n", "\(run.errors)")
  }

  @Test("over the vault that is there, the backup may come through a pipe too")
  func replacing() throws {
    let (tool, path) = try backedUp()
    try expect(tool("add", "late", input: [9]).exit, equals: 0)
    let content = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    let refused = try tool.run(
      ["restore", "-", "--passphrase-fd", "3"], input: content, secrets: Self.phrase)
    #expect(refused.exit == 9 && refused.text.contains("would drop   late"), "\(refused.errors)")
    let run = try tool.run(
      ["restore", "-", "--replace", "--passphrase-fd", "3"], input: content, secrets: Self.phrase)
    expect(run.exit, equals: 0, "\(run.errors)")
    try expect(tool("get", "mail").output, equals: [1, 2, 3])
    try expect(tool("get", "late").exit, equals: 1)
  }

  @Test("what is no backup is named as that, wherever it comes from, and nothing of it is kept")
  func others() throws {
    let (tool, path) = try backedUp()
    let text = try tool.file("text", String(repeating: "no backup\n", count: 9))
    for (name, exit, word) in [
      (text, 10, "the backup file \(text) is not a backup file"), ("/dev/zero", 10, "is not a backup"),
      ("/dev/null", 10, "is empty"), (tool.home.path, 13, "is not a file"),
      (tool.home.path + "/none", 13, "opening the backup"),
      (tool.home.path + "/.local/share/vaultctl/default.vault", 12, "is a vault, not a backup"),
    ] as [(String, Int32, String)] {
      let other = try Tool()
      for words in [["restore", name], ["vault", "check", "--backup", name]] {
        let run = try other.run(words + ["--passphrase-fd", "3"], secrets: Self.phrase)
        let isNamed =
          run.errors.contains(word)
          || word.hasPrefix("the backup file") && run.errors.contains("is not a backup")
        #expect(run.exit == exit && isNamed, "\(words) \(run.exit) \(run.errors)")
        #expect(!run.errors.contains("--vault") && !run.errors.contains("the vault file"), "\(run.errors)")
      }
    }
    withExtendedLifetime(path) {}
  }

  @Test("a backup goes through a pipe, with its result on standard error, and never to a terminal")
  func standardOutput() throws {
    let (tool, path) = try backedUp()
    let run = try tool("backup", "-", "--passphrase-fd", "3", secrets: Self.phrase)
    #expect(run.exit == 0 && run.errors.contains("items     1"), "\(run.errors)")
    #expect(!FileManager.default.fileExists(atPath: tool.home.path + "/-"))
    let copy = path + ".piped"
    try Data(run.output).write(to: URL(fileURLWithPath: copy))
    try expectRestored(from: copy, "a pipe")
    try expect(
      tool.run(["backup", "-", "--json", "--passphrase-fd", "3"], secrets: Self.phrase).exit, equals: 2)
    let screen = try PseudoTerminal()
    var child = Child(Tool.path, ["backup", "-"], tool.environment)
    child.leadsSession = true
    for number: Int32 in 0...2 { child.open(number, screen.path, flags: O_RDWR) }
    try expect(child.start().wait(), equals: 9)
    #expect(screen.drain().contains("not written to a terminal"))
    #expect(try tool("audit").text.components(separatedBy: "backedUp").count == 3)
  }

  @Test("a pipe whose reader is gone ends the command, and the audit names no backup")
  func lostReader() throws {
    let (tool, _) = try backedUp()
    _ = try tool.file("phrase", "long phrase")
    let script = #"(trap '' PIPE; "$0" backup - --passphrase-file "$HOME/phrase"; echo "exit $?" >&2) | true"#
    let run = try tool.run(["-c", script, Tool.path], program: Shell.need("bash"))
    #expect(!run.errors.contains("exit 0"), "\(run.errors)")
  }

  @Test("no directory is made for a backup: a stick that is not mounted is no place")
  func noDirectory() throws {
    let (tool, _) = try backedUp()
    let path = tool.home.path + "/stick/deep/b"
    let run = try tool("backup", path, "--passphrase-fd", "3", secrets: Self.phrase)
    #expect(run.exit == 13 && run.errors.contains("does not exist"), "\(run.errors)")
    #expect(!FileManager.default.fileExists(atPath: tool.home.path + "/stick"))
  }

  /// The file system is served by a program, and is as FAT on Linux: mode 0755 for all, no links, no locks, no files without a name, no
  /// renaming that spares what is there.
  @Test("a file system like FAT takes a backup and gives it back, and a warning says that others can read it")
  func stick() throws {
    try needMounts("a file system without modes and links")
    let (tool, _) = try backedUp()
    _ = try tool.file("phrase", "long phrase")
    let script = """
      b=$HOME/stick/b.vault; p="--passphrase-file $HOME/phrase"
      "$0" backup "$b" $p > /dev/null; echo "$?"; ls -A "$HOME/stick"; stat -c %a "$b"
      "$0" backup "$b" $p > /dev/null 2>&1; echo "$?"; "$0" vault check --backup "$b" $p | tail -1
      export HOME=$HOME/new; mkdir -m 700 "$HOME"; "$0" restore "$b" $p > /dev/null; "$0" item get mail | od -An -tx1
      """
    try FileManager.default.createDirectory(
      atPath: tool.home.path + "/stick", withIntermediateDirectories: false)
    let server = Tool.repository.appendingPathComponent("Tests/FileSystems/fat.py").path
    let run = try tool.run(
      ["-m", try Shell.need("python3"), server, tool.home.path + "/stick", "sh", "-c", script, Tool.path],
      program: Shell.need("unshare"))
    expect(run.text, equals: "0\nb.vault\n755\n8\neverything is sound\n 01 02 03\n", "\(run.errors)")
    #expect(run.errors.contains("others can read"), "\(run.errors)")
  }
}
