import Foundation
import Synchronization
import TestSupport
import Testing
import VaultKit
import VaultPrompts

extension OneAtATime {
  @Suite("Pinentry", .bounded, .serialized)
  struct PinentryPromptTests {
    private static let request = PromptRequest(.passcode, operation: "read the password", label: "mail")

    /// - Parameter clock: Without one, no limit passes: the result does not depend on how busy the machine is.
    private func begin(
      _ pinentry: Pinentry, _ request: PromptRequest = Self.request, patience: Duration = .seconds(60),
      by clock: HeldClock = HeldClock()
    ) -> Answer {
      Answer.reading { () throws(VaultError) in
        try PinentryPrompt(pinentry, patience: patience, silence: .milliseconds(50), by: clock.now)
          .readSecret(request)
      }
    }

    private func answer(_ pinentry: Pinentry, _ request: PromptRequest = Self.request) throws -> Answer {
      try begin(pinentry, request).wait()
    }

    // MARK: what a well-behaved program is told and gives

    /// Verified to fail when escapes are not decoded, and when what came so far counts before the OK.
    @Test("what is typed arrives byte for byte, over several lines and escaped")
    func secret() throws {
      let script = try ScriptedPinentry(
        "serve('GETPIN', b'D s3%25c%0Ar\\xc3\\xa9t\\nS PASSWORD_FROM_CACHE\\nD  %20x\\nOK\\n'); hang() if hear() != 'BYE' else 0"
      )
      let answer = try answer(script.pinentry())
      expect(answer.text, equals: "s3%c\nrét  x")
      #expect(try script.isReaped)
    }

    @Test("it is told what is about to happen, escaped, in lines of at most 1,000 bytes")
    func texts() throws {
      let screen = try PseudoTerminal()
      let script = try ScriptedPinentry(
        "serve('GETPIN', 'D x\\nOK\\n')")
      var request = PromptRequest(
        .applicationPassword, operation: "sign 100% of it", label: "k\ney", reason: "because",
        requester: .init(processID: 7, executable: "/bin/sign"), problem: "wrong")
      try expect(
        answer(
          script.pinentry(terminal: screen.path, environment: ["TERM=xterm", "LANG=de_DE.UTF-8"]), request
        ).text, equals: "x")
      let heard = try script.note("heard").split(separator: "\n").map(String.init)
      #expect(
        heard.contains(
          "SETDESC The vault asks for: application password%0Asign 100%25 of it: 'k\\u{A}ey'%0A"
            + "  asked by /bin/sign (process 7)%0A  says: because"))
      for line in [
        "SETPROMPT application password:", "SETERROR wrong", "OPTION ttyname=\(screen.path)",
        "OPTION ttytype=xterm",
        "OPTION lc-ctype=de_DE.UTF-8", "SETTITLE Vault", "SETTIMEOUT 60",
      ] { #expect(heard.contains(line), "\(line) was not said") }
      request.label = String(repeating: "\u{1F600}%", count: 2000)
      request.reason = request.label
      request.problem = request.label
      try expect(answer(script.pinentry(), request).text, equals: "x")
      let long = try script.note("heard").split(separator: "\n")
      #expect(long.allSatisfy { $0.utf8.count <= 1000 })
      #expect(long.contains { $0.hasPrefix("SETDESC") && $0.contains("more characters)") })
    }

    /// Verified to fail without `clinux_spawn_close_from`. Fails too when the environment is handed on whole.
    @Test("it gets three descriptors and the variables that it needs, no others")
    func inheritance() throws {
      let held = unsafe open("/dev/null", O_RDONLY)  // Not close-on-exec: a careless host's.
      defer { close(held) }
      let script = try ScriptedPinentry(
        """
        note('fds', ' '.join(sorted(os.listdir('/proc/self/fd'))))
        note('env', ' '.join(sorted(os.environ)))
        note('mask', open('/proc/self/status').read())
        serve('GETPIN', 'D x\\nOK\\n')
        """)
      _ = try answer(script.pinentry(environment: ["TERM=dumb", "HOME=/nowhere"]))
      // The fourth is the one that lists them.
      try expect(script.note("fds").split(separator: " ").count, equals: 4)
      try expect(
        script.note("env").split(separator: " ").filter { $0 != "LC_CTYPE" }, equals: ["HOME", "TERM"])
      #expect(try script.note("mask").contains("SigBlk:\t0000000000000000"))
    }

    @Test("agreed, not agreed, cancelled")
    func confirm() throws {
      for (line, agreed, code) in [
        ("OK\\n", true, nil), ("ERR 83886194 Not confirmed\\n", false, nil),
        ("ERR 83886179 Operation cancelled\\n", nil, VaultError.Code.cancelled),
        ("D x\\nOK\\n", nil, .verificationUnavailable),
      ] as [(String, Bool?, VaultError.Code?)] {
        let script = try ScriptedPinentry("serve('CONFIRM', '\(line)')")
        let pinentry = script.pinentry()
        let answer = try Answer.confirming { () throws(VaultError) in
          try PinentryPrompt(pinentry, by: HeldClock().now).confirm(
            PromptRequest(.confirmation, operation: "export"))
        }.wait()
        expect(answer.agreed, equals: agreed, "\(line)")
        expect(answer.error?.code, equals: code, "\(line)")
      }
    }

    // MARK: what a bad one does

    private struct Fault: CustomTestStringConvertible, Sendable {
      let testDescription: String
      let script: String
      let code: VaultError.Code
      /// What the program notes before it says nothing more, so that only the limit ends it.
      let silentAfter: String?
      init(_ name: String, _ code: VaultError.Code, _ script: String, silentAfter: String? = nil) {
        (testDescription, self.code, self.script, self.silentAfter) = (name, code, script, silentAfter)
      }
    }

    private static let faults = [
      Fault("dies at once", .cancelled, "sys.exit(1)"),
      Fault(
        "dies of a signal in the question", .cancelled, "serve('GETPIN', lambda: os.kill(os.getpid(), 9))"),
      Fault("dies after half of the data", .cancelled, "serve('GETPIN', 'D half')"),
      Fault("dies before the OK", .cancelled, "serve('GETPIN', 'D whole\\n')"),
      Fault("closes its ears", .cancelled, "os.close(0); greet(); hang()"),
      Fault("says nothing", .verificationUnavailable, "hang()", silentAfter: "pid"),
      Fault(
        "stops in the middle", .verificationUnavailable, "greet(); hear(); note('heard', ''); hang()",
        silentAfter: "heard"),
      Fault("greets with nonsense", .verificationUnavailable, "say('HTTP/1.1 200 OK\\n'); hang()"),
      Fault(
        "greets with binary", .verificationUnavailable,
        "say(bytes(range(255, 0, -1)) + b'\\n'); hang()"
      ),
      Fault("greets with an error", .verificationUnavailable, "say('ERR 1 no\\n'); hang()"),
      Fault(
        "an error without number", .verificationUnavailable,
        "serve('GETPIN', 'ERR oh dear\\n'); hang()"
      ),
      Fault(
        "an error beyond 32 bits", .verificationUnavailable,
        "serve('GETPIN', 'ERR 99999999999\\n'); hang()"),
      Fault(
        "a line of 70 KiB", .verificationUnavailable,
        "serve('GETPIN', 'D ' + 'x' * 70 * 1024 + '\\nOK\\n'); hang()"),
      Fault(
        "70 KiB in lines", .malformed,
        "serve('GETPIN', ('D ' + 'x' * 900 + '\\n') * 80 + 'OK\\n'); hang()"),
      Fault(
        "one byte too many", .malformed,
        "serve('GETPIN', 'D ' + 'x' * 900 + '\\nD ' + 'x' * 125 + '\\nOK\\n')"),
      Fault("an escaped NUL", .malformed, "serve('GETPIN', 'D a%00b\\nOK\\n')"),
      Fault("a NUL as it is", .malformed, "serve('GETPIN', b'D a\\0b\\nOK\\n')"),
      Fault("an invalid escape", .verificationUnavailable, "serve('GETPIN', 'D a%zz\\nOK\\n')"),
      Fault("an escape cut off", .verificationUnavailable, "serve('GETPIN', 'D a%4\\nOK\\n')"),
      Fault(
        "comments without end", .verificationUnavailable, "greet(); hear()\nwhile True: say('# la\\n' * 100)"),
      Fault(
        "comments until the limit", .verificationUnavailable,
        "greet(); hear(); say('# la\\n' * 100); note('said', ''); hang()", silentAfter: "said"),
      Fault(
        "data before the question", .verificationUnavailable,
        "greet(); hear(); say('D x\\nOK\\n'); hang()"),
      Fault(
        "cannot ask here", .interactionNotAllowed, "serve('GETPIN', 'ERR 83918950 Inappropriate ioctl\\n')"),
      Fault(
        "the person declines", .cancelled, "serve('GETPIN', 'ERR 83886179 Operation cancelled <Pinentry>\\n')"
      ),
      Fault("the person is away", .timedOut, "serve('GETPIN', 'ERR 83886142 Timeout <Pinentry>\\n')"),
    ]

    /// Fails when a limit of the set-up is taken away (it hangs), when `deinit` does not wait for the program (a zombie),
    /// and when the end of the stream before OK counts as an answer.
    @Test("each fault is an error of its kind within the limit, and leaves no zombie", arguments: faults)
    private func fault(_ fault: Fault) throws {
      let script = try ScriptedPinentry(fault.script)
      #expect(PinentryPrompt.silence < .milliseconds(4500))
      let clock = HeldClock()
      let answer = begin(script.pinentry(), by: clock)
      if let note = fault.silentAfter {
        try script.await(note)
        try clock.pass(.milliseconds(49))
        try clock.awaitReadings()
        #expect(!answer.isThere)
        clock.advance(by: .milliseconds(1))
      }
      try expect(answer.wait().error?.code, equals: fault.code)
      #expect(answer.bytes == nil)
      #expect(try script.isReaped)
    }

    @Test("one that will not end after its answer is ended")
    func stubborn() throws {
      let script = try ScriptedPinentry(
        "signal.signal(signal.SIGTERM, signal.SIG_IGN); serve('GETPIN', 'D x\\nOK\\n'); hang()"
      )
      let answer = try answer(script.pinentry())
      expect(answer.text, equals: "x")
      #expect(try script.isReaped)
    }

    /// Verified to fail when the limit of the question is that of its set-up.
    @Test("nobody answers: cancelled two seconds after the patience that pinentry knows, and not before")
    func patience() throws {
      let script = try ScriptedPinentry("serve('GETPIN', lambda: (note('asked', ''), hang()))")
      let clock = HeldClock()
      let answer = begin(script.pinentry(), patience: .milliseconds(100), by: clock)
      try script.await("asked")
      try clock.pass(.milliseconds(2099))
      try clock.awaitReadings()
      #expect(!answer.isThere)
      clock.advance(by: .milliseconds(1))
      try expect(answer.wait().error?.code, equals: .timedOut)
      #expect(try script.isReaped)
    }

    @Test("another thread ends it")
    func cancel() throws {
      let script = try ScriptedPinentry("serve('GETPIN', lambda: (note('asked', ''), hang()))")
      let prompt = PinentryPrompt(script.pinentry(), by: HeldClock().now)
      let answer = Answer.reading { () throws(VaultError) in try prompt.readSecret(Self.request) }
      try script.await("asked")
      prompt.cancel()
      try expect(answer.wait().error?.code, equals: .cancelled)
      #expect(try script.isReaped)
    }

    /// Fails when the signal is raised again while it still goes into our pipe.
    @Test("a signal that ends the process ends the prompt, and then does what it does without one")
    func signal() throws {
      let script = try ScriptedPinentry("serve('GETPIN', lambda: (note('asked', ''), hang()))")
      var counting = sigaction()
      unsafe counting.__sigaction_handler.sa_handler = { _ in ends.add(1, ordering: .relaxed) }
      var before = sigaction()
      unsafe sigaction(SIGQUIT, &counting, &before)
      defer { unsafe sigaction(SIGQUIT, &before, nil) }
      let prompt = PinentryPrompt(script.pinentry(), by: HeldClock().now)
      let answer = Answer.reading { () throws(VaultError) in try prompt.readSecret(Self.request) }
      try script.await("asked")
      kill(getpid(), SIGQUIT)
      try expect(answer.wait().error?.code, equals: .appCancelled)
      // Another thread may be the one that takes it.
      try waitUntil("the signal") { ends.load(ordering: .relaxed) > 0 }
      expect(ends.load(ordering: .relaxed), equals: 1)
      #expect(try script.isReaped)
    }

    @Test("a program that does not start", arguments: ["/nonexistent/pinentry", "/etc/passwd", "/tmp"])
    func absent(path: String) throws {
      let answer = try answer(Pinentry(path: path, terminal: nil))
      #expect(answer.error?.code == .interactionNotAllowed || answer.error?.code == .cancelled)
    }

    // MARK: the real ones

    @Test(
      "the real programs of Debian ask on a terminal: typed, cancelled, and the terminal is as before",
      arguments: ["/usr/bin/pinentry-tty", "/usr/bin/pinentry-curses"])
    func real(path: String) throws {
      _ = try Shell.need((path as NSString).lastPathComponent)
      let screen = try PseudoTerminal()
      let pinentry = Pinentry(path: path, terminal: screen.path, environment: ["TERM=xterm", "LANG=C.UTF-8"])
      let typed = Answer.reading { () throws(VaultError) in
        try PinentryPrompt(pinentry, by: HeldClock().now).readSecret(Self.request)
      }
      try screen.wait(for: "read the password: 'mail'")
      try screen.wait(for: "passcode:")
      try waitUntil("a terminal without echo") { !screen.echoes }
      // Verified to fail when `PinentryTurn` takes no lock.
      let lock = PromptLock(of: screen)
      #expect(lock.isHeld)
      try waitUntil("the record of the mode") { !lock.record.isEmpty }
      screen.type("s3cr%t é\r")
      try expect(typed.wait().text, equals: "s3cr%t é")
      #expect(!screen.drain().contains("s3cr"))
      #expect(screen.echoes && !lock.isHeld && lock.record.isEmpty)
      let killed = Answer.reading { () throws(VaultError) in
        try PinentryPrompt(pinentry, by: HeldClock().now).readSecret(Self.request)
      }
      try screen.wait(for: "passcode:")
      try waitUntil("a terminal without echo") { !screen.echoes }
      for pid in children(named: path) { kill(pid, SIGKILL) }
      try expect(killed.wait().error?.code, equals: .cancelled)
      // Verified to fail when the mode is not restored, and the killed program leaves echo off.
      #expect(screen.echoes)
      expect(children(named: path), equals: [])
    }

    /// Our children, zombies too, that run a program.
    private func children(named path: String) -> [pid_t] {
      let name = String((path as NSString).lastPathComponent.prefix(15))
      let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
      return processes.compactMap { pid_t($0) }.filter { pid in
        guard let line = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else {
          return false
        }
        let rest = line.split(separator: ")").last?.split(separator: " ") ?? []
        return line.contains("(\(name))") && rest.count > 1 && pid_t(rest[1]) == getpid()
      }
    }

    // MARK: which one

    /// Verified to fail when the former variable is not looked at.
    @Test("the variable names it, by an absolute path to a program; a display or a terminal must be there")
    func finding() throws {
      let script = try ScriptedPinentry("")
      func find(_ variables: [String: String]) -> Result<Pinentry, Pinentry.Absence> {
        Result { () throws(Pinentry.Absence) in
          try Pinentry.find(terminalPath: "/nonexistent") { variables[$0] }
        }
      }
      let chosen = find(["VAULTCTL_PINENTRY": script.path, "DISPLAY": ":0", "SECRET": "x"])
      try expect(chosen.get().path, equals: script.path)
      try expect(chosen.get().environment, equals: ["DISPLAY=:0"])
      for bad in ["pinentry-tty", "/nonexistent", "/tmp", "/etc/passwd"] {
        expect(find(["VAULTCTL_PINENTRY": bad, "DISPLAY": ":0"]), equals: .failure(.badVariable), "\(bad)")
      }
      for present in ["", script.path] {
        let both = ["VAULT_PINENTRY": script.path, "VAULTCTL_PINENTRY": present, "DISPLAY": ":0"]
        expect(find(both), equals: .failure(.formerVariable))
      }
      #expect(VaultError(absence: .formerVariable).message.contains("VAULTCTL_PINENTRY"))
      let screen = try PseudoTerminal()
      #expect(try find(["VAULTCTL_PINENTRY": script.path, "GPG_TTY": screen.path]).get().terminal != nil)
    }

    @Test(
      "without a display, and where none of the first three descriptors is a terminal, it has nowhere to ask")
    func nowhere() async throws {
      let script = try ScriptedPinentry("")
      let path = script.path
      await #expect(processExitsWith: .success) { [path = path as String] in
        let null = unsafe open("/dev/null", O_RDWR)
        for descriptor in Int32(0)...2 { precondition(dup2(null, descriptor) == descriptor) }
        for variables in [["VAULTCTL_PINENTRY": path], ["VAULTCTL_PINENTRY": path, "DISPLAY": ""]] {
          do throws(Pinentry.Absence) {
            _ = try Pinentry.find(terminalPath: "/nonexistent") { variables[$0] }
            preconditionFailure("found")
          } catch { precondition(error == .nowhereToAsk) }
        }
      }
    }

    @Test("automatic: the terminal, else pinentry, else refused at once with the reason")
    func automatic() throws {
      let script = try ScriptedPinentry("serve('GETPIN', 'D from pinentry\\nOK\\n')")
      let path = script.path
      let screen = try PseudoTerminal()
      let terminal = screen.path
      let first = Answer.reading { () throws(VaultError) in
        try AutomaticPrompt(terminalPath: terminal) { ["VAULTCTL_PINENTRY": path, "DISPLAY": ":0"][$0] }
          .readSecret(Self.request)
      }
      try screen.wait(for: "passcode: ")
      screen.type("from the terminal\n")
      try expect(first.wait().text, equals: "from the terminal")
      let second = Answer.reading { () throws(VaultError) in
        try AutomaticPrompt(terminalPath: "/nonexistent") {
          ["VAULTCTL_PINENTRY": path, "DISPLAY": ":0"][$0]
        }
        .readSecret(Self.request)
      }
      try expect(second.wait().text, equals: "from pinentry")
      let third = Answer.reading { () throws(VaultError) in
        try AutomaticPrompt(terminalPath: "/nonexistent") { ["VAULTCTL_PINENTRY": "x"][$0] }.readSecret(
          Self.request)
      }
      try expect(third.wait().error?.code, equals: .interactionNotAllowed)
    }
  }
}

private let ends = Atomic<Int32>(0)
