import AuthenticatorKit
import Foundation
import Glibc
import SecretMemory
import TestSupport
import Testing
import TransportPrograms
import VaultKit

/// What a transport gets of this process, and how it ends with it.
@Suite("The process of a transport", .bounded)
struct ProgramProcessTests {
  /// Verified to fail when descriptors are inherited, and when the program keeps the session of its caller.
  @Test(
    "it gets its pipes and its own file, the environment, no terminal, no blocked or ignored signal, and no argument"
  )
  func inherited() throws {
    let peer = try PeerProgram(
      """
      files = sorted(int(name) for name in os.listdir('/proc/self/fd'))
      try: os.open('/dev/tty', os.O_RDWR); terminal = True
      except OSError: terminal = False
      status = dict(line.split(':\\t') for line in open('/proc/self/status') if ':\\t' in line)
      answer(files=[str(file) for file in files if os.path.exists('/proc/self/fd/%d' % file)],
        own=os.readlink('/proc/self/fd/3'), terminal=terminal,
        blocked=status['SigBlk'].strip(), ignored=status['SigIgn'].strip(), leads=os.getsid(0) == os.getpid(),
        path=os.environ.get('PATH', ''), count=len(sys.argv))
      """)
    let fields = try peer.send()
    expect(fields.word("files"), equals: "0|1|2|3")
    expect(fields.word("own"), equals: peer.path)
    expect(fields.word("terminal"), equals: "false")
    expect(fields.word("leads"), equals: "true")
    expect(fields.word("blocked"), equals: "0000000000000000")
    // Python itself ignores SIGPIPE and SIGXFSZ.
    let ignored = fields.word("ignored").flatMap { UInt64($0, radix: 16) }
    // Two that the C library keeps for itself stay as they were.
    expect(ignored.map { $0 & ~(3 << 31) }, equals: 0x0100_1000)
    expect(fields.word("path"), equals: ProcessInfo.processInfo.environment["PATH"])
    expect(fields.word("count"), equals: "1")
  }

  /// Verified to fail when the watched ending is not looked at.
  @Test("a request that is no longer wanted ends at once, with its program, and no other request ends")
  func cancelled() throws {
    // No program answers before the pipe is opened, and no limit passes.
    let peer = try PeerProgram(
      "note('begun-' + request['peer'], os.getpid())\nhold()\nanswer(state='active')")
    let clock = HeldClock()
    let transport = try TransportProgram(peer.path, limits: .init(by: clock.now))
    let ending = PromptEnding()
    let results = Results()
    results.start("first", ending, transport)
    results.start("second", PromptEnding(), transport)
    results.start("third", nil, transport)
    for name in ["first", "second", "third"] { _ = try peer.awaitNote("begun-" + name) }
    ending.end()
    try expect(results.await("first"), equals: "appCancelled")
    try peer.awaitEnd("begun-first")
    // The others look at the clock behind the look whether they are still wanted.
    try clock.awaitReadings(20)
    #expect(results["second"] == nil && results["third"] == nil)
    transport.cancel()
    try expect(results.await("third"), equals: "appCancelled")
    try peer.awaitEnd("begun-third")
    peer.pipe.open()
    try expect(results.await("second"), equals: "active")
  }

  @Test("200 requests leave no descriptor and no child, also where they fail")
  func leavesNothing() async {
    await #expect(processExitsWith: .success) {
      let good = try PeerProgram(
        shell: "read line; id=${line#*id\\\":\\\"}; echo '{\"version\":1,\"id\":\"'${id%%\\\"*}'\"}'")
      let bad = try PeerProgram(shell: "exit 1")
      let hanging = try PeerProgram(shell: "exec sleep 600")
      _ = try good.send()
      let before = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
      for number in 0..<200 {
        if number % 2 == 0 { _ = try good.send() } else { precondition(bad.failure()?.code == .network) }
        if number % 50 == 0 {
          let error = try Self.failure(of: hanging)
          precondition(error.code == .network)
        }
      }
      let after = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
      precondition(after == before)
      precondition(waitpid(-1, nil, WNOHANG) == -1 && errno == ECHILD)
    }
  }

  /// The error of a program that is ended a moment after it was started, or before.
  private static func failure(of hanging: PeerProgram) throws -> VaultError {
    let transport = try TransportProgram(hanging.path, limits: .init(time: .milliseconds(20)))
    do throws(VaultError) {
      _ = try transport.send(TransportRequest(.login, id: PeerProgram.id, fields: .init()))
      preconditionFailure("a hanging program answers")
    } catch { return error }
  }

  /// Verified to fail when this process does not keep the end of the pipe that the program reads.
  @Test("a program that closes its input does not end this process by SIGPIPE")
  func brokenPipe() async {
    await #expect(processExitsWith: .success) {
      signal(SIGPIPE, SIG_DFL)
      let peer = try PeerProgram(
        "os.close(0)\nrequest = {'id': '\(PeerProgram.id)'}\nanswer(state='active')", reading: false)
      // More than the pipe holds: something is written when no reader is left.
      let fields: TransportFields = ["text": .text(String(repeating: "x", count: 1 << 20))]
      let state = try peer.send(fields).word("state")
      precondition(state == "active")
    }
  }

  @Test("where the kernel reaps the children of this process, an answer is still an answer")
  func reaped() async {
    await #expect(processExitsWith: .success) {
      let peer = try PeerProgram("answer(state='active')")
      signal(SIGCHLD, SIG_IGN)
      let transport = try TransportProgram(peer.path)
      for _ in 0..<10 {
        let answer = try transport.send(TransportRequest(.login, id: PeerProgram.id, fields: .init()))
        precondition(answer.fields.word("state") == "active")
      }
    }
  }

  /// Verified to fail when the program is not bound to the thread that waits for it.
  @Test("the program ends with this process, however that ends", arguments: [SIGKILL, SIGINT, SIGTERM])
  func endsWithUs(number: Int32) async throws {
    let peer = try PeerProgram(
      "signal.signal(signal.SIGINT, signal.SIG_IGN)\nnote('begun', os.getpid())\nhang()")
    let path = peer.path
    await #expect(processExitsWith: .signal(number)) { [path = path as String, number = number as Int32] in
      signal(number, SIG_DFL)
      Thread.detachNewThread {
        let begun = URL(fileURLWithPath: path).deletingLastPathComponent().appendingPathComponent("begun")
          .path
        try? waitUntil("a program that begins") { FileManager.default.fileExists(atPath: begun) }
        kill(getpid(), number)
      }
      let transport = try TransportProgram(path, limits: .init(by: HeldClock().now))
      _ = try transport.send(TransportRequest(.login, id: PeerProgram.id, fields: .init()))
    }
    try peer.awaitEnd("begun")
  }
}
