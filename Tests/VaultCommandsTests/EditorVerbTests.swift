import Foundation
import TestSupport
import Testing

/// A tool with the entry `shop`, and a directory in memory of its own in which the files of its editors are.
final class EditorHome {
  let tool: Tool
  let runtime: String

  init(passcode: String? = nil) throws {
    tool = try EntryVerbTests.make(passcode: passcode)
    runtime = "/dev/shm/" + UUID().uuidString
    try FileManager.default.createDirectory(
      atPath: runtime, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    tool.environment["XDG_RUNTIME_DIR"] = runtime
  }

  deinit { try? FileManager.default.removeItem(atPath: runtime) }

  /// What editors have left.
  var left: [String] { (try? FileManager.default.contentsOfDirectory(atPath: runtime)) ?? ["unreadable"] }

  /// An editor that is a script: `$1` is the file.
  func editor(_ script: String) throws {
    tool.environment["EDITOR"] = try tool.program("editor-\(UUID().uuidString)", "#!/bin/sh\n\(script)\n")
  }

  func edit(_ words: String...) throws -> Tool.Run {
    try tool.run(["edit", "shop", "--editor"] + words)
  }

  /// All that the entry has, as lines of an export.
  func content() throws -> String { try tool("export", "jsonl", "--plain").text }
}

/// Verified to fail when the directory of an editor is not removed; when it is removed without its files overwritten; when the revision is
/// not compared; when a line that is not understood is left out; and when a signal leaves the file.
@Suite("Editing an entry in an editor", .bounded)
struct EditorVerbTests {
  @Test("what the editor stores becomes the entry, and the names of what changed are said")
  func edited() throws {
    let home = try EditorHome()
    try home.editor(
      """
      test "$(stat -c %a "$1")" = 600 && test "$(stat -c %a "$(dirname "$1")")" = 700 && test "$(stat -f -c %T "$1")" = tmpfs || exit 9
      sed -i -e 's/^account = .*/account = berta/' -e 's/^tag = home/tag = away/' -e 's/^password = .*/password = neu/' \\
        -e 's/^field customer = .*/hidden customer = 1/' -e '/^url = https:..anna/d' -e 's/^line two/line 2/' "$1"
      """)
    let run = try home.edit("--json")
    expect(0, run)
    try expect(
      run.json["changed"] as? [String],
      equals: ["account", "tags", "password", "notes", "addresses", "\"customer\""])
    let shown = try home.tool("show", "shop").text
    #expect(shown.contains("account              berta") && shown.contains("customer = ***"), "\(shown)")
    #expect(
      shown.contains("host                 other.example")
        && shown.contains("tags                 away, work"),
      "\(shown)")
    try expect(home.tool("get", "shop", "--field", "notes").text, equals: "line one\nline 2\n")
    try expect(home.tool("get", "shop", "--version", "1").text, equals: "geheim")
    expect(home.left, equals: [])
  }

  @Test("$VISUAL comes before $EDITOR, and both can be a command with arguments")
  func variables() throws {
    let home = try EditorHome()
    home.tool.environment["EDITOR"] = "false"
    home.tool.environment["VISUAL"] = "sed -i s/geheim/anders/"
    expect(0, try home.edit(), "changed: password")
    try expect(home.tool("get", "shop").text, equals: "anders")
    home.tool.environment["VISUAL"] = ""
    expect(5, try home.edit(), "the editor ended with 1")
  }

  @Test(
    "an editor that stores nothing, or no entry, changes nothing, says why, and leaves nothing",
    arguments: [
      ("true", Int32(0), "nothing was changed"), ("exit 1", 5, "the editor ended with 1"),
      ("rm \"$1\"", 12, "the editor removed the file"),
      (": > \"$1\"", 12, "line 1: the line 'notes:' is missing"),
      ("truncate -s 10M \"$1\"", 12, "the editor stored more than 2 MiB"),
      ("kill -9 $$", 13, "the editor was ended by signal 9"),
      ("exec nosuchprogram", 13, "the editor was not started"),
      ("rm \"$1\"; mkdir \"$1\"", 12, "the editor left no file"),
      ("rm \"$1\"; mkfifo \"$1\"", 12, "the editor left no file"),
      ("rm \"$1\"; ln -s /etc/hostname \"$1\"", 13, "reading what the editor stored"),
      ("printf '\\377\\376' > \"$1\"", 12, "is not text in UTF-8"),
      ("sed -i 's/^account.*/acount = canary-x/' \"$1\"", 12, "line 9: the key is none of"),
      ("sed -i 's/^account.*/canary-x/' \"$1\"", 12, "line 9: there is no ="),
      ("sed -i 's/$/\\r/' \"$1\"", 12, "it has a carriage return"),
      ("sed -i '/^notes:/d' \"$1\"", 12, "there is no ="),
      ("sed -i 's/^label.*/account = x/' \"$1\"", 12, "account is there twice"),
      ("sed -i 's/^hidden.*/field customer = canary-x/' \"$1\"", 12, "the field \"customer\" is there twice"),
      ("sed -i 's/^hidden .*/hidden = canary-x/' \"$1\"", 12, "the key is none of"),
      ("sed -i 's/^account = .*/&\\n| canary-x/' \"$1\"", 12, "the value above is on one line already"),
      ("sed -i 's/^password/base64 password/' \"$1\"", 12, "the value is not base64"),
      (
        "for i in $(seq 70); do sed -i \"s/^notes:/field f$i = x\\n&/\" \"$1\"; done", 12,
        "an entry has at most 64 fields"
      ),
    ] as [(String, Int32, String)])
  func nothing(script: String, exit: Int32, says: String) throws {
    let home = try EditorHome()
    let before = try home.content()
    try home.editor(script)
    let run = try home.edit()
    expect(exit, run, says)
    #expect(!run.errors.contains("canary"), "\(run.errors)")
    try expect(home.content(), equals: before)
    expect(home.left, equals: [])
    try expect(home.tool("history", "shop").text, equals: "")
  }

  @Test("what an editor writes beside the file, or into HOME or TMPDIR, goes with the file")
  func beside() throws {
    let home = try EditorHome()
    let before = try FileManager.default.contentsOfDirectory(atPath: home.tool.home.path)
    try home.editor(
      """
      cp "$1" "$1~"; cp "$1" "$HOME/.viminfo"; cp "$1" "$TMPDIR/swp"; mkdir -p "$HOME/.config/editor/deep"
      cp "$1" "$HOME/.config/editor/deep/x"; chmod 0 "$1~" "$HOME/.config/editor/deep"; ln -s /etc "$HOME/link"
      mkfifo "$HOME/fifo"; env | grep -c ^XDG_.*_HOME && exit 1; sed -i s/geheim/neu/ "$1"
      """)
    expect(0, try home.edit(), "changed: password")
    expect(home.left, equals: [])
    let after = try FileManager.default.contentsOfDirectory(atPath: home.tool.home.path)
    expect(
      after.filter { !$0.hasPrefix("editor-") && !$0.hasPrefix("run-") }.sorted(), equals: before.sorted())
    #expect(FileManager.default.fileExists(atPath: "/etc/hostname"))
  }

  /// An editor keeps a descriptor of the file: what it reads there afterwards is not the text.
  @Test("the file is overwritten before it is removed, also where the editor has replaced it by another")
  func overwritten() throws {
    let home = try EditorHome()
    let pipe = home.tool.home.path + "/gate"
    unsafe expect(mkfifo(pipe, 0o600), equals: 0)
    let kept = home.tool.home.path + "/kept"
    try home.editor(
      """
      (exec 3< "$1"; sed -i s/geheim/neu/ "$1"; exec 4< "$1"; echo > '\(pipe)'.ready; read x < '\(pipe)'; cat <&3 <&4 > '\(kept)'; cat <&3 >> '\(kept)'; echo > '\(kept)'.done) > /dev/null 2>&1 &
      while ! test -e '\(pipe)'.ready; do :; done
      """)
    expect(0, try home.edit(), "changed: password")
    try Data("\n".utf8).write(to: URL(fileURLWithPath: pipe))
    try waitUntil("the file was read again") { FileManager.default.fileExists(atPath: kept + ".done") }
    let bytes = try Data(contentsOf: URL(fileURLWithPath: kept))
    #expect(bytes.count > 400 && bytes.allSatisfy { $0 == 0 }, "\(String(decoding: bytes, as: UTF8.self))")
  }

  @Test("without a file system in memory nothing is written, and the way out is said")
  func noMemory() throws {
    try needMounts("a machine without /dev/shm in memory")
    let home = try EditorHome()
    home.tool.environment["XDG_RUNTIME_DIR"] = home.tool.home.path
    try home.editor("sed -i s/geheim/neu/ \"$1\"")
    // Shared memory of the tool is elsewhere.
    let script = """
      mkdir "$HOME/disk"; mount --bind "$HOME/disk" /dev/shm || exit 90
      '\(Tool.path)' item edit shop --editor; code=$?; ls -A /dev/shm; exit $code
      """
    let run = try home.tool.run(["--mount", "sh", "-c", script], program: Shell.need("unshare"))
    expect(
      9, run,
      "no file system in memory is there for the text of the editor: tried \(home.tool.home.path), /dev/shm")
    #expect(run.text.isEmpty && run.errors.contains("mount -t tmpfs"))
  }

  @Test("emacsclient is refused: another process has the file then")
  func emacsclient() throws {
    let home = try EditorHome()
    home.tool.environment["EDITOR"] = try home.tool.program("emacsclient", "#!/bin/sh\nexit 0\n")
    expect(9, try home.edit(), "emacsclient has another process open the file")
    expect(home.left, equals: [])
  }

  @Test("other kinds, batches and damaged entries are not edited")
  func refused() throws {
    let home = try EditorHome()
    let uri = Array("otpauth://totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ".utf8)
    expect(0, try home.tool("otp", "add", "code", input: uri))
    expect(9, try home.tool("edit", "code", "--editor"), "only a password is edited so")
    let batch = try home.tool("vault", "batch", input: Array(#"{"args":["edit","shop","--editor"]}"#.utf8))
    #expect(batch.exit == 2 && batch.text.contains("--editor is for a person"), "\(batch.text)")
  }
}

/// Verified to fail when the second editor overwrites what the first one stored.
@Suite("Two editors at once", .bounded)
struct EditorRivalTests {
  @Test("an entry that was changed meanwhile is not overwritten")
  func changedMeanwhile() throws {
    let home = try EditorHome()
    try home.editor(
      """
      '\(Tool.path)' item edit shop --set field:customer=meanwhile --set account=other > /dev/null 2>&1
      sed -i s/geheim/neu/ "$1"
      """)
    home.tool.environment["T_HOME"] = home.tool.home.path
    try home.editor(
      """
      HOME="$T_HOME" '\(Tool.path)' item edit shop --set field:customer=meanwhile --set account=other > /dev/null 2>&1
      sed -i s/geheim/neu/ "$1"
      """)
    let run = try home.edit()
    expect(13, run, "the entry was changed meanwhile (changed meanwhile: account, \"customer\")")
    try expect(home.tool("get", "shop").text, equals: "geheim")
    try expect(home.tool("get", "shop", "--field", "customer").text, equals: "meanwhile")
    expect(home.left, equals: [])
  }

  @Test("on a terminal the text is kept: a line that is not understood and a rival are met by editing again")
  func again() throws {
    let home = try EditorHome()
    home.tool.environment["T_HOME"] = home.tool.home.path
    try home.editor(
      """
      n=$(cat "$T_HOME/round" 2> /dev/null); n=$((n + 1)); echo $n > "$T_HOME/round"
      case $n in
        1) sed -i -e 's/^account = /account /' -e 's/geheim/kept/' "$1" ;;
        2) sed -i 's/^account /account = /' "$1"; HOME="$T_HOME" '\(Tool.path)' item edit shop --set field:customer=meanwhile > /dev/null 2>&1 ;;
        3) grep -q 'password = kept' "$1" && sed -i 's/^field customer = .*/field customer = mine/' "$1" ;;
      esac
      """)
    let screen = try PseudoTerminal()
    var child = Child(Tool.path, ["edit", "shop", "--editor"], home.tool.environment)
    child.leadsSession = true
    for descriptor in Int32(0)...2 { child.open(descriptor, screen.path, flags: O_RDWR) }
    let running = try child.start()
    try screen.wait(for: "line 9: there is no =")
    try screen.wait(for: "discard what you typed")
    try screen.wait(for: "continue? [y/N] ")
    screen.type("\n")
    try screen.wait(for: "changed meanwhile: \"customer\"")
    try screen.wait(for: "what you save there replaces what is stored now")
    try screen.wait(for: "continue? [y/N] ")
    screen.type("n\n")
    try screen.wait(for: "changed: password, \"customer\"")
    try expect(running.wait(), equals: 0)
    try expect(home.tool("get", "shop").text, equals: "kept")
    try expect(home.tool("get", "shop", "--field", "customer").text, equals: "mine")
    try expect(
      home.tool("get", "shop", "--field", "customer", "--version", "2").text, equals: "meanwhile")
    expect(home.left, equals: [])
  }

  @Test(
    "yes and Ctrl-C discard the text, and the line that was not understood is the error",
    arguments: ["y\n", "\u{3}"])
  func discarded(answer: String) throws {
    let home = try EditorHome()
    try home.editor("sed -i -e 's/^account = /account /' -e 's/geheim/lost/' \"$1\"")
    let screen = try PseudoTerminal()
    let running = try home.tool.start(
      shell: Tool.path, ["edit", "shop", "--editor"], on: screen)
    try screen.wait(for: "line 9: there is no =")
    try screen.wait(for: "continue? [y/N] ")
    screen.type(answer)
    try expect(running.wait(), equals: 12)
    try screen.wait(for: "line 9: there is no =")
    try expect(home.tool("get", "shop").text, equals: "geheim")
    expect(home.left, equals: [])
  }
}

/// Verified to fail when the handler of a signal ends the process at once, and when the next editor does not look for what was left.
@Suite("Signals during an editor", .bounded)
struct EditorSignalTests {
  /// Starts an editor that waits, and waits until it does.
  private func start(_ home: EditorHome, _ script: String = "exec sleep 100000") throws -> Child.Running {
    let ready = home.tool.home.path + "/ready"
    try home.editor("echo secret > \"$1.swp\"; echo > '\(ready)'; \(script)")
    var child = Child(Tool.path, ["edit", "shop", "--editor"], home.tool.environment)
    child.create(2, home.tool.home.path + "/errors")
    let running = try child.start()
    try waitUntil("the editor runs") { FileManager.default.fileExists(atPath: ready) }
    return running
  }

  @Test(
    "a signal ends the editor and the command, and nothing is left and changed",
    arguments: [(SIGINT, Int32(130)), (SIGTERM, -SIGTERM), (SIGHUP, -SIGHUP), (SIGQUIT, -SIGQUIT)],
    [false, true])
  func ended(signal: (number: Int32, end: Int32), isScript: Bool) throws {
    let home = try EditorHome()
    let before = try home.content()
    // A shell that waits for its program does not end with it.
    let running = try start(home, isScript ? "sleep 100000; exit 0" : "exec sleep 100000")
    #expect(home.left.count == 1)
    running.kill(signal.number)
    try expect(running.wait(), equals: signal.end)
    expect(home.left, equals: [])
    try expect(home.content(), equals: before)
    let errors = try String(contentsOfFile: home.tool.home.path + "/errors", encoding: .utf8)
    #expect(errors.contains("a signal has ended the editor"), "\(errors)")
  }

  @Test("an editor that answers no signal is killed, and what it wrote goes")
  func stubborn() throws {
    let home = try EditorHome()
    let running = try start(home, "trap '' TERM INT HUP; while :; do :; done")
    running.kill(SIGTERM)
    try expect(running.wait(), equals: -SIGTERM)
    expect(home.left, equals: [])
  }

  @Test("what a killed command has left, the next editor removes; the directory of one that runs stays")
  func killed() throws {
    let home = try EditorHome()
    let killed = try start(home, "exec sleep 100000")
    killed.kill(SIGKILL)
    try expect(killed.wait(), equals: -SIGKILL)
    expect(home.left.count, equals: 1)
    try? FileManager.default.removeItem(atPath: home.tool.home.path + "/ready")
    let running = try start(home)
    expect(home.left.count, equals: 1)
    try home.editor("true")
    expect(0, try home.edit())
    expect(home.left.count, equals: 1, "that of the editor that runs")
    running.kill(SIGINT)
    try expect(running.wait(), equals: 130)
    expect(home.left, equals: [])
  }

  @Test("Ctrl-C on the terminal ends both, and the terminal is as before")
  func terminal() throws {
    let home = try EditorHome()
    try home.editor("stty -echo; echo RUNNING; exec sleep 100000")
    let screen = try PseudoTerminal()
    var child = Child(Tool.path, ["edit", "shop", "--editor"], home.tool.environment)
    child.leadsSession = true
    for descriptor in Int32(0)...2 { child.open(descriptor, screen.path, flags: O_RDWR) }
    let running = try child.start()
    try screen.wait(for: "RUNNING")
    #expect(!screen.echoes)
    screen.type("\u{3}")
    try expect(running.wait(), equals: 130)
    #expect(screen.echoes)
    expect(home.left, equals: [])
  }

  /// emacs makes itself the foreground process group.
  @Test(
    "an editor that is killed as the foreground process group leaves no text, and the terminal is as before")
  func foreground() throws {
    let home = try EditorHome()
    let script = """
      import os, signal, termios
      os.setpgid(0, 0)
      signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTTOU])
      os.tcsetpgrp(0, os.getpgrp())
      mode = termios.tcgetattr(0)
      mode[3] &= ~termios.ECHO
      termios.tcsetattr(0, termios.TCSANOW, mode)
      os.kill(os.getpid(), signal.SIGKILL)
      """
    try home.editor("exec '\(try Shell.need("python3"))' -c '\(script)' \"$1\"")
    let screen = try PseudoTerminal()
    // The shell gives the command a process group of its own. It would report that the command was stopped.
    let words = ["-c", "set -m; \"$T\" item edit shop --editor; exit $?"]
    let running = try home.tool.start(shell: Shell.need("bash"), words, on: screen)
    try expect(running.wait(), equals: 13)
    try screen.wait(for: "the editor was ended by signal 9")
    #expect(screen.echoes)
    expect(home.left, equals: [])
  }
}
