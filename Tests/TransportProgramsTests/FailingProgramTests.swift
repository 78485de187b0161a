import AuthenticatorKit
import Foundation
import Glibc
import TestSupport
import Testing
import TransportPrograms
import VaultKit

@Suite("Transports that fail", .bounded)
struct FailingProgramTests {
  @Test(
    "a path that is not absolute, or too long, is malformed",
    arguments: ["transport", "./transport", "", "/" + String(repeating: "a", count: 1024)])
  func path(path: String) {
    #expect { try TransportProgram(path) } throws: { ($0 as? VaultError)?.code == .malformed }
  }

  /// Verified to fail when the mode is not looked at, and when the owner is not.
  @Test(
    "a file that is no program of root or this user alone is refused before anything is sent",
    arguments: [
      ("absent", "does not exist"), ("file/below", "does not exist"), ("folder", "is not a program"),
      ("fifo", "is not a program"), ("600", "is not executable"), ("770", "can be changed by others"),
      ("707", "can be changed by others"), ("4700", "runs as another user or group"),
      ("2700", "runs as another user or group"), ("alien", "belongs to another user"),
    ])
  func file(kind: String, flaw: String) throws {
    let peer = try PeerProgram("answer()")
    let path = peer.folder.path + "/other"
    var named = path
    switch kind {
    case "absent": break
    case "file/below": named = peer.path + "/below"
    case "folder": unsafe mkdir(path, 0o700)
    case "fifo": unsafe mkfifo(path, 0o700)
    case "alien":
      try needRoot("a transport of another user")
      try peer.install("#!/bin/sh\nexit 0", as: path)
      unsafe chown(path, 65534, 65534)
    default: try peer.install("#!/bin/sh\nexit 0", as: path, mode: kind)
    }
    let error = #expect(throws: VaultError.self) { try TransportProgram(named) }
    expect(error?.code, equals: .network)
    expect(error?.message, equals: "the transport \(named) \(flaw)")
    // No network makes it right, so a program does not wait for one.
    #expect(error?.hint != nil && error?.recovery.word == "nonRecoverable")
    if kind != "file/below" { try expectRefusal(of: path, as: flaw, inPlaceOf: peer) }
  }

  /// The same file later, at a path that was good.
  private func expectRefusal(of path: String, as flaw: String, inPlaceOf peer: PeerProgram) throws {
    let transport = try TransportProgram(peer.path)
    unsafe unlink(peer.path)
    unsafe rename(path, peer.path)
    let later = #expect(throws: VaultError.self) {
      try transport.send(TransportRequest(.login, id: PeerProgram.id, fields: .init()))
    }
    #expect(later?.message.hasSuffix(flaw) == true)
  }

  /// The clock is first looked at between the check of the file and the start of the program.
  ///
  /// Verified to fail when the path is started in place of the open file.
  @Test("the file that was checked is the one that runs")
  func replaced() throws {
    let peer = try PeerProgram(shell: ": > FOLDER/begun; exit 7")
    let (path, bad, begun) = (peer.path, peer.folder.path + "/bad", peer.folder.path + "/begun")
    try peer.install("#!/bin/sh\n: > FOLDER/ran\nexit 8", as: bad, mode: "777")
    let clock = HeldClock()
    let transport = try TransportProgram(
      peer.path,
      limits: .init {
        if unsafe rename(bad, path) == 0 { #expect(unsafe access(begun, F_OK) != 0) }
        return clock.now()
      })
    for flaw in ["ended with exit code 7", "can be changed by others"] {
      let error = #expect(throws: VaultError.self) {
        try transport.send(TransportRequest(.login, id: PeerProgram.id, fields: .init()))
      }
      expect(error?.message, equals: "the transport \(peer.path) \(flaw)")
    }
    #expect(!FileManager.default.fileExists(atPath: peer.folder.path + "/ran"))
  }

  @Test(
    "a program that cannot be started says why",
    arguments: [
      ("echo no interpreter", "does not start: it is not a program, or does not name an interpreter"),
      ("#!/nonexistent/interpreter", "does not start: its interpreter is missing"),
      ("#!/etc/passwd", "does not start: it may not be started"),
    ])
  func start(lines: String, flaw: String) throws {
    let peer = try PeerProgram(lines: lines + "\n")
    let error = try #require(peer.failure())
    expect(error.code, equals: .network)
    expect(error.message, equals: "the transport \(peer.path) \(flaw)")
  }

  /// Verified to fail when the exit code is not looked at.
  @Test(
    "a program that does not end with 0 fails, whatever it wrote",
    arguments: [
      ("sys.exit(1)", "ended with exit code 1"), ("os._exit(255)", "ended with exit code 255"),
      ("os.kill(os.getpid(), signal.SIGKILL)", "was ended by signal 9"),
      (
        "signal.signal(signal.SIGPIPE, signal.SIG_DFL); os.kill(os.getpid(), signal.SIGPIPE)",
        "was ended by signal 13"
      ),
      ("os.abort()", "was ended by signal 6"),
    ])
  func code(ending: String, flaw: String) throws {
    for beginning in ["", "answer(state='active')\n"] {
      let peer = try PeerProgram(beginning + ending)
      let error = try #require(peer.failure())
      expect(error.code, equals: .network)
      expect(error.message, equals: "the transport \(peer.path) \(flaw)")
    }
  }

  /// Verified to fail when only the program is killed, and not its group.
  @Test("a program that hangs is killed at the deadline, with what it started, and no zombie is left")
  func hangs() throws {
    let peer = try PeerProgram(
      """
      for number in range(1, 65):
          if number not in (9, 19, 32, 33): signal.signal(number, signal.SIG_IGN)
      child = os.fork()
      if child == 0: note('child', os.getpid())
      else:
          while not os.path.exists('FOLDER/child'): os.sched_yield()
          note('parent', os.getpid())
      hang()
      """)
    let error = try peer.failureOfHanging(after: "parent")
    expect(error.code, equals: .network)
    expect(error.message, equals: "the transport \(peer.path) gave no answer within 2 seconds, and was ended")
    try peer.awaitEnd("parent")
    try peer.awaitEnd("child")
  }

  @Test("an answer without an end of the program is none")
  func goesOn() throws {
    let peer = try PeerProgram("answer(state='active')\nos.close(1)\nnote('closed', '')\nhang()")
    let error = try peer.failureOfHanging(after: "closed")
    #expect(error.message.contains("gave no answer within 2 seconds"))
    try peer.awaitEnd("pid")
    // One that ends is good.
    let other = try PeerProgram("answer(state='active')\nos.close(1)\nnote('closed', '')\nhold()")
    let (clock, results) = (HeldClock(), Results())
    results.start("other", nil, try TransportProgram(other.path, limits: .init(by: clock.now)))
    _ = try other.awaitNote("closed")
    try clock.awaitReadings()
    expect(results["other"], equals: nil)
    other.pipe.open()
    try expect(results.await("other"), equals: "active")
  }

  /// Verified to fail when the end of the output is awaited in place of the end of the program.
  @Test("a child that holds the output open does not hold the answer")
  func heldOpen() throws {
    let peer = try PeerProgram(
      """
      answer(state='active')
      if os.fork() == 0:
          note('child', os.getpid())
          hang()
      """)
    try expect(peer.send().word("state"), equals: "active")
    // It still holds it, and is not ours to end: the program ended as it should.
    let child = try peer.process("child")
    #expect(!hasEnded(child))
    expect(kill(child, SIGKILL), equals: 0)
  }

  /// Verified to fail when the answer is not limited.
  @Test(
    "more than 1 MiB is too much, also without an end",
    arguments: ["say(b'x' * 2 ** 21)", "while True: say(b' ' * 4096)"])
  func tooLong(script: String) throws {
    let peer = try PeerProgram(script)
    let error = try #require(peer.failure())
    expect(error.code, equals: .network)
    expect(error.message, equals: "the transport \(peer.path) wrote more than 1048576 bytes")
    try peer.awaitEnd("pid")
  }

  /// Verified not to end when the request is written before anything is read.
  @Test("a program that does not read its request can answer, and can hang")
  func unread() throws {
    let fields: TransportFields = ["text": .text(String(repeating: "x", count: 1 << 20))]
    for closing in ["", "os.close(0)\n"] {
      let peer = try PeerProgram(
        closing + "request = {'id': '\(PeerProgram.id)'}\nanswer(long='y' * 500_000)", reading: false)
      try expect(peer.send(fields).word("long")?.utf8.count, equals: 500_000)
    }
    let hanging = try PeerProgram("hang()", reading: false)
    try expect(hanging.failureOfHanging(fields, after: "pid").code, equals: .network)
    try hanging.awaitEnd("pid")
  }

  /// Verified to fail when an answer may have an `operation`.
  @Test("a program that gives the request back has answered nothing")
  func echo() throws {
    let error = try #require(PeerProgram(shell: "exec cat").failure())
    #expect(error.code == .network && error.message.hasSuffix("gave a malformed answer: it is the request"))
  }

  @Test("what it writes to standard error is thrown away")
  func standardError() throws {
    let peer = try PeerProgram("os.write(2, b'x' * 2 ** 21)\nanswer(file=os.readlink('/proc/self/fd/2'))")
    try expect(peer.send().word("file"), equals: "/dev/null")
  }
}
