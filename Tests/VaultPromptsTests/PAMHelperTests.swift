import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultKit
import VaultPrompts
import VaultTestKit

/// Programs in the place of `vault-pam`: which of them are started, and what they may say.
@Suite("vault-pam and what is not it", .bounded, .serialized)
struct PAMHelperTests {
  // MARK: what it says

  @Test(
    "a helper that keeps to the protocol opens; it got the request alone, and was started by its descriptor")
  func good() throws {
    let fake = try FakeHelper("assert sys.argv == ['/proc/self/fd/2', services]; say(b'T' + user); verdict()")
    let prompt = ScriptedPrompt()
    #expect(try fake.verify(prompt).agreed == true)
    expect(prompt.lines, equals: [PAMWorld.user])
  }

  // This and the next: verified to fail when the nonce is not compared.
  @Test(
    "a verdict without the nonce of the request denies",
    arguments: [
      "verdict(os.urandom(16))", "verdict(bytes(16))", "verdict(nonce[:15] + bytes([nonce[15] ^ 1]))",
      "verdict(bytes([nonce[0] ^ 128]) + nonce[1:])", "verdict(nonce[::-1])",
      "verdict(nonce[1:] + nonce[:1])",
    ])
  func wrongNonce(behaviour: String) throws { try expectFault(behaviour) }

  @Test("the verdict of an earlier request denies")
  func oldNonce() throws {
    let fake = try FakeHelper(
      """
      path = services + '/old'
      if os.path.exists(path): verdict(open(path, 'rb').read())
      else: open(path, 'wb').write(nonce); verdict()
      """)
    #expect(try fake.verify().agreed == true)
    try expect(fake.verify().error?.code, equals: .verificationUnavailable)
  }

  // Verified to fail when nothing is read behind the verdict.
  @Test(
    "more than one verdict, or anything behind it, denies",
    arguments: [
      "verdict(); verdict()", "verdict(); verdict(step=2, result=7)", "verdict(); say(b'T' + b'text')",
      "verdict(); say(b'Q' + b'question'); time.sleep(600)", "verdict(); say(bytes(5000))",
    ])
  func twice(behaviour: String) throws { try expectFault(behaviour) }

  // Verified to fail when such an end counts as any other.
  @Test("a helper that ends after its verdict without having read the answer to its question denies")
  func unread() throws {
    try expectFault(
      """
      say(b'Q' + b'question'); sock.recv(600, socket.MSG_PEEK); verdict()
      await_reading()
      """)
  }

  @Test("the first verdict counts, and a no is a no")
  func denied() throws {
    for behaviour in [
      "verdict(step=2, result=7)", "verdict(step=2, result=7); verdict()", "verdict(step=3, result=7)",
    ] {
      try expect(FakeHelper(behaviour).verify().error?.code, equals: .authenticationFailed, "\(behaviour)")
    }
  }

  // Verified to fail when a helper that ended without a verdict counts as success.
  @Test(
    "a helper that ends at any message without a verdict denies, whatever its exit status",
    arguments: [
      "", "sys.exit(0)", "os.kill(os.getpid(), 9)", "say(b'T' + b'text'); sys.exit(0)",
      "say(b'E' + b'error'); os.kill(os.getpid(), 9)", "say(b'Q' + b'question')",
      "say(b'Q' + b'question'); sock.recv(600)",
      "say(b'Q' + b'question'); sock.recv(600); os.kill(os.getpid(), 9)",
      "say(b'Q' + b'question'); sock.recv(600); say(b'Q' + b'again'); sock.recv(600); sys.exit(0)",
    ])
  func dies(behaviour: String) throws { try expectFault(behaviour) }

  @Test("a helper that ends before it reads the request denies")
  func diesAtOnce() throws {
    let fake = try FakeHelper(script: "#!/bin/sh\nexit 0\n")
    try expect(fake.verify().error?.code, equals: .verificationUnavailable)
  }

  // Verified to fail when messages are cut, unknown ones skipped, and a verdict is read from its first bytes.
  @Test(
    "messages that are none deny: too long, too short, of another type, out of turn",
    arguments: [
      "say(b'T' + b'x' * 4224)", "say(b'T' + b'x' * 100000); verdict()", "say(b'V'); verdict()",
      "say(b'V' + nonce)", "say(b'V' + nonce + bytes(4))", "say(b'V' + nonce + bytes(6))",
      "say(b'V' + nonce + bytes(5000))", "say(b''); verdict()", "say(b'A' + b'x'); verdict()",
      "say(b'R' + request[1:]); verdict()", "say(request); verdict()", "say(bytes(22))", "say(b'yes')",
      "verdict(step=6)", "verdict(step=255)", "verdict(step=0, result=7)", "verdict(step=2, result=0)",
      "[say(b'T' + b'la') for _ in range(200)]; verdict()",
    ])
  func malformed(behaviour: String) throws { try expectFault(behaviour) }

  @Test(
    "a verdict, or a second question, while the person is asked denies",
    arguments: [
      ("verdict()", "sock.recv(600)"), ("say(b'Qb')", "sock.recv(600); sock.recv(600); verdict()"),
    ])
  func outOfTurn(early: String, end: String) throws {
    let fake = try FakeHelper("say(b'Qa'); \(early); open(services + '/said', 'w'); \(end)")
    let answer = try fake.verify(LatePrompt(after: fake.services + "/said"))
    #expect(answer.agreed == nil)
    expect(answer.error?.code, equals: .verificationUnavailable)
  }

  @Test("words that are no UTF-8 are shown as what can be read of them")
  func odd() throws {
    let prompt = ScriptedPrompt()
    #expect(try FakeHelper("say(b'T' + b'a\\\\xff\\\\x00b'); verdict()").verify(prompt).agreed == true)
    #expect(prompt.lines.first?.hasPrefix("a") == true)
  }

  // Verified to fail when the end of the connection, or the deadline, is not waited for.
  @Test(
    "a helper that stays, with or without a verdict, is given up and ended",
    arguments: [
      ("note()", true), ("verdict(); await_reading(); note()", true),
      ("note(); sock.close(); os.close(1)", false),
    ])
  func stays(behaviour: String, isSilent: Bool) throws {
    let fake = try FakeHelper(
      "signal.pthread_sigmask(0, signal.valid_signals()); \(behaviour); time.sleep(600)")
    let clock = HeldClock()
    let answer = fake.begin(limits: .init(silence: .milliseconds(50), by: clock.now))
    let note = fake.services + "/pid"
    try waitUntil("what the helper notes") { FileManager.default.fileExists(atPath: note) }
    if isSilent { try clock.pass(.milliseconds(50)) }
    try expect(answer.wait().error?.code, equals: .verificationUnavailable)
    let pid = try String(contentsOfFile: note, encoding: .utf8)
    #expect(!FileManager.default.fileExists(atPath: "/proc/\(pid)"))
  }

  private func expectFault(_ behaviour: String) throws {
    let prompt = ScriptedPrompt([.text("x"), .text("x")])
    let answer = try FakeHelper(behaviour).verify(prompt)
    #expect(answer.agreed == nil)
    expect(
      answer.error?.code, equals: .verificationUnavailable, "\(behaviour): \(answer.error?.message ?? "")")
  }

  // MARK: which file is started

  // Verified to fail when the owner, and when the mode, is not looked at, and when the hint for a mode tells to install another
  // one, which would not be looked for.
  @Test("a helper that others could change is not started, and no other is looked for")
  func untrusted() throws {
    let fake = try FakeHelper("open(services + '/ran', 'w'); verdict()")
    for mode in [0o770, 0o720, 0o702, 0o777, 0o757] {
      unsafe expect(chmod(fake.path, mode_t(mode)), equals: 0)
      try expectNotStarted(fake, "can be changed by others", hint: "chmod go-w '\(fake.path)'")
    }
    for mode in [0o755, 0o700, 0o500] {
      unsafe expect(chmod(fake.path, mode_t(mode)), equals: 0)
      #expect(try fake.verify().agreed == true)
      try FileManager.default.removeItem(atPath: fake.services + "/ran")
    }
  }

  // Verified to fail when the path is not looked at.
  @Test("a helper in a directory that others can write to is not started, unless it has the sticky bit")
  func replaceable() throws {
    let fake = try FakeHelper("open(services + '/ran', 'w'); verdict()")
    unsafe expect(chmod(fake.folder.path, 0o777), equals: 0)
    try expectNotStarted(
      fake, "can be replaced by others, who own \(fake.folder.path)",
      hint: "allow only root or yourself")
    unsafe expect(chmod(fake.folder.path, 0o1777), equals: 0)
    #expect(try fake.verify().agreed == true)
  }

  @Test("a helper of another user is not started; of another group it may be")
  func foreign() throws {
    try needRoot("a helper of another user")
    let fake = try FakeHelper("open(services + '/ran', 'w'); verdict()")
    #expect(unsafe chmod(fake.path, 0o755) == 0 && chown(fake.path, 12345, 0) == 0)
    try expectNotStarted(
      fake, "belongs to another user", hint: "replace it with one that you or root built")
    unsafe expect(chown(fake.path, 0, 12345), equals: 0)
    #expect(try fake.verify().agreed == true)
  }

  @Test("what is not a program is not started, and a FIFO makes nobody wait")
  func noProgram() throws {
    let fake = try FakeHelper("verdict()")
    let folder = fake.folder.path
    func expectError(_ path: String, _ code: VaultError.Code, _ words: String) throws {
      let answer = try FakeHelper.verify(PAMPresence.Helper(at: path, services: fake.services))
      #expect(
        answer.error?.code == code && answer.error?.message.contains(words) == true, "\(answer.error as Any)")
    }
    try expectError(folder, .verificationUnavailable, "is not a program")
    unsafe expect(mkfifo(folder + "/fifo", 0o700), equals: 0)
    try expectError(folder + "/fifo", .verificationUnavailable, "is not a program")
    try expectError("/dev/null", .verificationUnavailable, "is not a program")
    try Data("text".utf8).write(to: fake.folder.appendingPathComponent("text"))
    unsafe expect(chmod(folder + "/text", 0o644), equals: 0)
    try expectError(folder + "/text", .verificationUnavailable, "does not start")
    // A link is followed, and what it leads to is looked at.
    try FileManager.default.createSymbolicLink(atPath: folder + "/link", withDestinationPath: fake.path)
    #expect(
      try FakeHelper.verify(PAMPresence.Helper(at: folder + "/link", services: fake.services)).agreed == true)
    try expectError(folder + "/absent", .unsupported, "is missing")
    try expectError("vault-pam-testing", .unsupported, "must be absolute")
    try expectError("", .unsupported, "must be absolute")
  }

  @Test("the helper takes no words, and is of no use by itself")
  func byHand() throws {
    for words in [[], ["/tmp"], ["--help"]] {
      let result = try Program(Built.path("vault-pam"), words).run()
      #expect(
        result.status == 2 && result.text.contains("do not start it by hand"), "\(result.text)")
    }
  }

  private func expectNotStarted(_ fake: FakeHelper, _ words: String, hint: String) throws {
    let error = try fake.verify().error
    #expect(
      error?.code == .verificationUnavailable && error?.message.contains(words) == true, "\(error as Any)")
    #expect(error?.hint?.hasPrefix(hint) == true, "\(error?.hint ?? "")")
    #expect(!FileManager.default.fileExists(atPath: fake.services + "/ran"))
  }
}

/// Answers once a file exists.
private struct LatePrompt: Prompt {
  private let file: String

  init(after file: String) { self.file = file }

  func readSecret(_ request: PromptRequest) throws(VaultError) -> SecretBytes {
    do {
      try waitUntil("what the helper says meanwhile") { FileManager.default.fileExists(atPath: file) }
    } catch { Issue.record(error) }
    return SecretBytes(testing: "x")
  }

  func confirm(_ request: PromptRequest) throws(VaultError) -> Bool { true }
  func show(_ line: String, for request: PromptRequest) {}
  func cancel() {}
}

/// A script that speaks the helper's protocol, or something like it.
private final class FakeHelper {
  let folder: URL
  var path: String { folder.appendingPathComponent("helper").path }
  var services: String { folder.appendingPathComponent("pam.d").path }

  /// - Parameter behaviour: Python, after the request was read.
  convenience init(_ behaviour: String) throws { try self.init(script: Self.prelude + behaviour + "\n") }

  init(script: String) throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("helper-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      atPath: folder.path + "/pam.d", withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    try Data(script.utf8).write(to: URL(fileURLWithPath: path + ".source"))
    // By another process: a program that this one has written may be busy while a thread starts a child.
    try Program("/bin/cp", [path + ".source", path]).run()
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
    try Data().write(to: URL(fileURLWithPath: services + "/vaultctl"))
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func verify(_ prompt: any Prompt = ScriptedPrompt()) throws -> Answer { try begin(prompt).wait() }

  /// - Parameter limits: Without them, no limit passes.
  func begin(
    _ prompt: any Prompt = ScriptedPrompt(), limits: PAMPresence.Limits = .init(by: HeldClock().now)
  ) -> Answer { Self.begin(PAMPresence.Helper(at: path, services: services), prompt, limits) }

  static func verify(_ helper: PAMPresence.Helper) throws -> Answer {
    try begin(helper, ScriptedPrompt(), .init(by: HeldClock().now)).wait()
  }

  private static func begin(
    _ helper: PAMPresence.Helper, _ prompt: any Prompt, _ limits: PAMPresence.Limits
  ) -> Answer {
    let presence = PAMPresence(service: "vaultctl", helper: helper, limits: limits)
    return Answer.doing { () throws(VaultError) in
      try presence.verifyPresence(PromptRequest(.presence, operation: "use the key"), asking: prompt)
    }
  }

  private static let prelude = """
    #!/usr/bin/python3
    import fcntl, os, signal, socket, struct, sys, time
    sock = socket.socket(fileno=0)
    request = sock.recv(5000)
    services, nonce = sys.argv[1], request[2:18]
    assert request[:2] == b'R\\x01' and request[18:27] == b'\\x08vaultctl'
    user = request[27:]
    def say(message): sock.send(message)
    def await_reading():
        while any(fcntl.ioctl(0, 0x5411, bytes(4))): os.sched_yield()
    def note():
        with open(services + '/new', 'w') as file: file.write(str(os.getpid()))
        os.rename(services + '/new', services + '/pid')
    def verdict(which=nonce, step=0, result=0):
        say(b'V' + which + bytes([step]) + struct.pack('<i', result))

    """
}
