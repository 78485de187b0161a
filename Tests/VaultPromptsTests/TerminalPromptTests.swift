import Foundation
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultKit
import VaultPrompts

extension OneAtATime {
  @Suite("The terminal prompt", .bounded, .serialized)
  struct TerminalPromptTests {
    private static let request = PromptRequest(
      .passcode, operation: "read the password", label: "ma\u{1B}[2Jil", reason: "because",
      requester: .init(processID: 12, executable: "/bin/x"))

    private func asking(_ screen: PseudoTerminal, _ prompt: TerminalPrompt) throws -> Answer {
      let answer = Answer.reading { () throws(VaultError) in try prompt.readSecret(Self.request) }
      try screen.wait(for: "passcode: ")
      return answer
    }

    /// Verified to fail when echo stays on.
    @Test("it shows what is about to happen, then reads a line without echo; echo is back afterwards")
    func line() throws {
      let screen = try PseudoTerminal()
      let path = screen.path
      let answer = Answer.reading { () throws(VaultError) in
        try TerminalPrompt(path: path).readSecret(Self.request)
      }
      try screen.wait(
        for: "read the password: 'ma\\u{1B}[2Jil'\r\n  asked by /bin/x (process 12)\r\n  says: because\r\n")
      try screen.wait(for: "passcode: ")
      #expect(!screen.echoes)
      screen.type("s3cret\n")
      try expect(answer.wait().text, equals: "s3cret")
      #expect(screen.echoes)
      #expect(!screen.drain().contains("s3"))
    }

    /// Verified to fail when the mode is not restored. Fails too when SIGINT keeps our handler.
    @Test("Ctrl-C cancels, restores the terminal and gives the signal back")
    func interrupt() throws {
      let screen = try PseudoTerminal()
      var mine = sigaction()
      unsafe mine.__sigaction_handler.sa_handler = { _ in }
      var before = sigaction()
      unsafe sigaction(SIGINT, &mine, &before)
      defer { unsafe sigaction(SIGINT, &before, nil) }
      let answer = try asking(screen, TerminalPrompt(path: screen.path))
      kill(getpid(), SIGINT)
      try expect(answer.wait().error?.code, equals: .cancelled)
      #expect(screen.echoes)
      var now = sigaction()
      unsafe sigaction(SIGINT, nil, &now)
      let isMine =
        unsafe unsafeBitCast(now.__sigaction_handler.sa_handler, to: Int.self)
        == unsafeBitCast(mine.__sigaction_handler.sa_handler, to: Int.self)
      #expect(isMine)
    }

    /// Verified to fail when the signal is swallowed, and the process that was told to end goes on.
    @Test("another signal ends the prompt, and then does what it does without one")
    func terminate() throws {
      let screen = try PseudoTerminal()
      var counting = sigaction()
      unsafe counting.__sigaction_handler.sa_handler = { _ in hangups.store(1, ordering: .relaxed) }
      var before = sigaction()
      unsafe sigaction(SIGHUP, &counting, &before)
      defer { unsafe sigaction(SIGHUP, &before, nil) }
      let answer = try asking(screen, TerminalPrompt(path: screen.path))
      kill(getpid(), SIGHUP)
      try expect(answer.wait().error?.code, equals: .appCancelled)
      #expect(screen.echoes)
      // Another thread may be the one that takes it.
      try waitUntil("the signal") { hangups.load(ordering: .relaxed) > 0 }
      expect(hangups.load(ordering: .relaxed), equals: 1)
    }

    /// Verified to fail when what is left in the pipe is not raised again.
    @Test("a signal that comes when the prompt has ended already is not lost")
    func late() throws {
      let screen = try PseudoTerminal()
      let lock = PromptLock(of: screen)
      let slave = unsafe open(screen.path, O_RDWR | O_NOCTTY)
      defer { close(slave) }
      var counting = sigaction()
      unsafe counting.__sigaction_handler.sa_handler = { _ in lateHangups.store(1, ordering: .relaxed) }
      var before = sigaction()
      unsafe sigaction(SIGHUP, &counting, &before)
      defer { unsafe sigaction(SIGHUP, &before, nil) }
      // The question cannot be written, so that nothing is answered until both have come.
      tcflow(slave, TCOOFF)
      let prompt = TerminalPrompt(path: screen.path, by: HeldClock().now)
      let answer = Answer.reading { () throws(VaultError) in try prompt.readSecret(Self.request) }
      try waitUntil("the record of the mode") { !lock.record.isEmpty }
      prompt.cancel()
      kill(getpid(), SIGHUP)
      tcflow(slave, TCOON)
      try expect(answer.wait().error?.code, equals: .cancelled)
      try waitUntil("the signal") { lateHangups.load(ordering: .relaxed) > 0 }
      expect(lateHangups.load(ordering: .relaxed), equals: 1)
    }

    @Test("another thread ends it")
    func cancelled() throws {
      let screen = try PseudoTerminal()
      let prompt = TerminalPrompt(path: screen.path)
      prompt.cancel()  // Nothing is open: nothing happens.
      let answer = try asking(screen, prompt)
      prompt.cancel()
      try expect(answer.wait().error?.code, equals: .cancelled)
      #expect(screen.echoes)
    }

    /// Verified to fail when the patience is 300 s, whatever was asked for, and when it is half as long.
    @Test("nobody answers: cancelled after its patience and not before, not a hang")
    func patience() throws {
      let (screen, clock) = (try PseudoTerminal(), HeldClock())
      let answer = try asking(
        screen, TerminalPrompt(path: screen.path, patience: .milliseconds(300), by: clock.now))
      try clock.pass(.milliseconds(299))
      try clock.awaitReadings()
      #expect(!answer.isThere)
      clock.advance(by: .milliseconds(1))
      let error = try answer.wait().error
      #expect(error?.code == .timedOut && error?.promptEnd == .timeout)
      #expect(screen.echoes)
    }

    @Test("a second prompt of the process waits its turn, and no longer than its patience")
    func turns() throws {
      let screen = try PseudoTerminal()
      let other = try PseudoTerminal()
      let path = other.path
      let first = try asking(screen, TerminalPrompt(path: screen.path))
      let impatient = Answer.reading { () throws(VaultError) in
        try TerminalPrompt(path: path, patience: .milliseconds(200)).readSecret(Self.request)
      }
      let error = try impatient.wait().error
      #expect(error?.code == .timedOut && error?.promptEnd == nil, "no prompt was shown")
      let second = Answer.reading { () throws(VaultError) in
        try TerminalPrompt(path: path).readSecret(Self.request)
      }
      screen.type("one\n")
      try expect(first.wait().text, equals: "one")
      try other.wait(for: "passcode: ")
      other.type("two\n")
      try expect(second.wait().text, equals: "two")
    }

    /// Verified to fail when a lock that is held counts as taken.
    @Test("another prompt on the terminal: it says once that it waits, and no longer than its patience")
    func locked() throws {
      let screen = try PseudoTerminal()
      let lock = PromptLock(of: screen)
      let path = screen.path
      func read(_ patience: Duration) -> Answer {
        Answer.reading { () throws(VaultError) in
          try TerminalPrompt(path: path, patience: patience).readSecret(Self.request)
        }
      }
      let first = try asking(screen, TerminalPrompt(path: path))
      screen.type("x\n")
      try first.wait()
      let held = try #require(lock.hold())
      try expect(read(.milliseconds(200)).wait().error?.code, equals: .timedOut)
      #expect(!screen.drain().contains("passcode: "))
      let second = read(.seconds(300))
      try screen.wait(for: "Another prompt is open", times: 2)
      #expect(screen.echoes)
      close(held)
      try screen.wait(for: "passcode: ", times: 2)
      #expect(lock.isHeld && !lock.record.isEmpty)
      screen.type("two\n")
      try expect(second.wait().text, equals: "two")
      #expect(!lock.isHeld && lock.record.isEmpty)
      expect(screen.transcript.components(separatedBy: "Another prompt").count, equals: 3)
    }

    @Test("a terminal that somebody stopped takes no text: refused after 4 s, mode restored")
    func stopped() throws {
      let (screen, clock) = (try PseudoTerminal(), HeldClock())
      let slave = unsafe open(screen.path, O_RDWR | O_NOCTTY)
      defer { close(slave) }
      tcflow(slave, TCOOFF)
      let (path, lock) = (screen.path, PromptLock(of: screen))
      let answer = Answer.reading { () throws(VaultError) in
        try TerminalPrompt(path: path, by: clock.now).readSecret(Self.request)
      }
      try waitUntil("the record of the mode") { !lock.record.isEmpty }
      // From then on it looks at the clock for its text alone, and seldom.
      try clock.awaitReadings(1)
      clock.advance(by: .seconds(4))
      try expect(answer.wait().error?.code, equals: .interactionNotAllowed)
      tcflow(slave, TCOON)
      #expect(screen.echoes)
    }

    @Test("the terminal goes away: cancelled")
    func hangUp() throws {
      var screen: PseudoTerminal? = try PseudoTerminal()
      let answer = try asking(try #require(screen), TerminalPrompt(path: try #require(screen?.path)))
      screen = nil
      try expect(answer.wait().error?.code, equals: .cancelled)
    }

    @Test(
      "1,024 bytes are read, one more is malformed",
      arguments: [(1024, nil), (1025, VaultError.Code.malformed)])
    func length(count: Int, code: VaultError.Code?) throws {
      let screen = try PseudoTerminal()
      let answer = try asking(screen, TerminalPrompt(path: screen.path))
      screen.type(String(repeating: "x", count: count) + "\n")
      try expect(answer.wait().error?.code, equals: code)
      #expect(answer.bytes?.count == (code == nil ? count : nil))
    }

    @Test(
      "yes and no, in any case; other words are asked about again, three times at most",
      arguments: [
        (["y"], true), (["YES"], true), ([""], false), (["no"], false), (["maybe", "y"], true),
        (["maybe", "ja", "si"], false),
      ])
    func confirm(words: [String], agreed: Bool) throws {
      let screen = try PseudoTerminal()
      let path = screen.path
      let answer = Answer.confirming { () throws(VaultError) in
        try TerminalPrompt(path: path).confirm(PromptRequest(.confirmation, operation: "export the key"))
      }
      try screen.wait(for: "export the key\r\n")
      for word in words {
        try screen.wait(for: "continue? [y/N] ")
        screen.type(word + "\n")
      }
      try expect(answer.wait().agreed, equals: agreed)
    }

    /// Verified to fail when a word that means nothing counts as once.
    @Test(
      "how long a program may do it: once, a time, a number of uses, or no; after three words that mean nothing, no",
      arguments: [
        ([""], "once"), (["5m"], "300s"), (["3x"], "3x"), (["n"], "no"), (["forever", "1h"], "3600s"),
        (["forever", "13h", "101x"], "no"),
      ])
    func allow(words: [String], allowed: String) throws {
      let screen = try PseudoTerminal()
      let path = screen.path
      let answer = Answer.reading { () throws(VaultError) in
        let request = PromptRequest(
          .confirmation, operation: "read", label: "mail",
          requester: .init(processID: 12, executable: "/bin/x"))
        let prompt = AutomaticPrompt(terminalPath: path, way: .terminal) { _ in nil }
        return SecretBytes(copying: Array(try prompt.allow(request).typed.utf8))
      }
      try screen.wait(
        for:
          "read: 'mail'\r\n  asked by /bin/x (process 12)\r\n  more than once holds for all that process 12 starts, until a lock\r\n"
      )
      for word in words {
        try screen.wait(for: "allow it? Enter: once, 5m: for 5 minutes, 3x: three times, n: no: ")
        screen.type(word + "\n")
      }
      try expect(answer.wait().text, equals: allowed)
    }

    @Test("where pinentry asks, and where the terminal cannot, a program may do it once")
    func allowElsewhere() throws {
      let request = PromptRequest(.confirmation, operation: "read", label: "mail")
      let noTerminal = "/nonexistent/tty"
      for way in [AutomaticPrompt.Way.pinentry, .automatic] {
        let answer = Answer.reading { () throws(VaultError) in
          let prompt = AutomaticPrompt(terminalPath: noTerminal, way: way) { _ in nil }
          return SecretBytes(copying: Array(try prompt.allow(request).typed.utf8))
        }
        try expect(answer.wait().text, equals: "once")
      }
    }

    @Test("no terminal: refused at once", arguments: ["/dev/null", "/nonexistent/tty"])
    func noTerminal(path: String) throws {
      let answer = Answer.reading { () throws(VaultError) in
        try TerminalPrompt(path: path).readSecret(Self.request)
      }
      try expect(answer.wait().error?.code, equals: .interactionNotAllowed)
    }
  }
}

private let hangups = Atomic<Int32>(0)
private let lateHangups = Atomic<Int32>(0)
