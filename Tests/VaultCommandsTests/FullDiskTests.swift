import Foundation
import TestSupport
import Testing

/// Reading on a disk that takes nothing more. Each case makes a file system that it alone sees, and fills it.
///
/// Verified to fail with the tool from before these tests: each read ended with 13, and each prompt with 6.
@Suite("vaultctl on a full disk", .bounded)
struct FullDiskTests {
  enum Lack: String, CaseIterable {
    /// No block is left.
    case room
    /// No file can be made.
    case files
    /// Blocks and files are gone.
    case both
    /// No file may grow (`ulimit -f 0`).
    case limit
  }

  private static let begin = """
    set -e; T=$0; d=$HOME/disk; mkdir "$d"; mount -t tmpfs -o size=1m,nr_inodes=64,mode=700 none "$d"
    export XDG_DATA_HOME=$d/data XDG_STATE_HOME=$d/state
    fill() {
      case $1 in files | both) i=0; while (: > "$d/i$i") 2>/dev/null; do i=$((i + 1)); done ;; esac
      case $1 in room | both) cat /dev/zero > "$d/${2:-zero}" 2>/dev/null || true ;; limit) ulimit -f 0 ;; esac
    }

    """

  private func run(_ tool: Tool, _ lack: Lack, _ script: String) throws -> Tool.Run {
    try tool.run(
      ["-m", "sh", "-c", Self.begin + script, Tool.path, lack.rawValue], program: Shell.need("unshare"))
  }

  /// What is said goes through a pipe, because a limit on files holds for a file of results too. With `.limit`, verified to fail when `exec` makes a file in memory whatever its size.
  @Test(
    "whatever only reads works, and what must be written says that the disk is full",
    arguments: [Lack.room, .files, .both, .limit])
  func reads(lack: Lack) throws {
    try needMounts("a full disk")
    let run = try run(
      try Tool(), lack,
      """
      { "$T" init --no-passcode --no-recovery-code > /dev/null 2>&1
      printf pw | "$T" item add mail; printf zz | "$T" item add watched --audit all
      printf 'otpauth://totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ' | "$T" otp add time 2>/dev/null
      printf 'otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0' | "$T" otp add counter 2>/dev/null
      : > "$d/zero"; fill "$1"; set +e
      says() { want=$1; shift; said=$("$@" 2>&1 < /dev/null); got=$?; echo "$got $said" | tr '\\n' ' '; echo; [ $got = $want ]; }
      says 0 "$T" item get mail; says 0 "$T" item list; says 0 "$T" status; says 0 "$T" vault check
      says 0 "$T" otp code time; says 0 "$T" exec --fd 0=mail -- cat
      says 0 "$T" exec --file F=mail -- sh -c 'cat "$F"; exit $?'; says 0 "$T" exec --env V=mail -- sh -c 'echo $V'
      for verb in 'get watched' 'code counter' 'recovery-code new --out x' 'vault rotate device-key'; do says 13 "$T" $verb; done
      says 0 "$T" item get mail; } | cat
      """)
    let lines = run.text.split(separator: "\n").map(String.init)
    #expect(lines.count == 13, "\(run.text)\(run.errors)")
    for (line, start) in zip(lines, ["0 pw", "0 ", "0 ", "0 ", "0 ", "0 pw", "0 pw", "0 pw"]) {
      #expect(line.hasPrefix(start), "\(lack): \(line)")
    }
    for line in lines.dropFirst(8).prefix(4) {
      #expect(line.hasPrefix("13 ") && line.contains("the disk is full"), "\(lack): \(line)")
    }
    #expect(lines.last == "0 pw ", "\(lack): \(lines.last ?? "")")
  }

  /// A file system with a quota is rare on a machine that tests, so the errors of one are injected.
  ///
  /// Verified to fail when `EDQUOT` is an ordinary error of SQLite's files.
  @Test("a quota that is used up is a full disk", arguments: ["EDQUOT", "ENOSPC", "EFBIG"])
  func quota(error: String) throws {
    try Shell.need("strace")
    let tool = try Tool()
    try expect(tool("init", "--no-passcode", "--no-recovery-code").exit, equals: 0)
    try expect(tool("add", "mail", input: Array("pw".utf8)).exit, equals: 0)
    let writes = "inject=pwrite64,fallocate,ftruncate:error=" + error
    for (words, exit) in [
      (["get", "mail"], 0), (["ls"], 0), (["vault", "check"], 0),
      (["edit", "mail", "--label", "x"], 13),
    ] {
      let run = try tool.run(
        ["-f", "-o", "/dev/null", "-e", writes, Tool.path] + words, program: Shell.need("strace"))
      expect(run.exit, equals: Int32(exit), "\(words): \(run.errors)")
      if exit != 0 { #expect(run.errors.contains("the disk is full"), "\(run.errors)") }
    }
    try expect(tool("show", "mail", "--json").json["label"] as? String, equals: nil)
  }

  @Test("when there is room again the vault is written as before, and nothing was lost")
  func again() throws {
    try needMounts("a full disk")
    let run = try run(
      try Tool(), .both,
      """
      "$T" init --no-passcode --no-recovery-code > /dev/null 2>&1; printf pw | "$T" item add mail
      : > "$d/zero"; fill both; "$T" item get mail; printf new | "$T" item add late 2> /dev/null || echo " refused"
      rm -r "$d"/i* "$d/zero"; printf new | "$T" item add late; "$T" item get late; echo; "$T" vault check | tail -1
      """)
    expect(run.text, equals: "pw refused\nnew\neverything is sound\n", "\(run.errors)")
  }

  /// The lock of a prompt is a file, with a record of the mode in it.
  @Test("a passcode can be typed", arguments: [Lack.room, .files, .both, .limit])
  func prompts(lack: Lack) throws {
    try needMounts("a full disk")
    let tool = try Tool()
    let screen = try PseudoTerminal()
    let script =
      Self.begin + """
        mount -t tmpfs none /run
        printf 'six words of a list' > "$HOME/p"; chmod 600 "$HOME/p"
        "$T" init --passcode-file "$HOME/p" --no-recovery-code > /dev/null 2>&1
        printf secret-a | "$T" item add a --passcode-file "$HOME/p"; : > "$d/zero"; fill "$1"; "$T" item get a; echo " exit $?"
        """
    let words = ["-m", "sh", "-c", script, Tool.path, lack.rawValue]
    let running = try tool.start(shell: Shell.need("unshare"), words, on: screen)
    try screen.wait(for: "passcode: ")
    screen.type("six words of a list\n")
    try expect(running.wait(), equals: 0)
    let text = screen.drain()
    #expect(text.contains("secret-a") && text.contains("exit 0") && screen.echoes, "\(lack): \(text)")
  }
}
