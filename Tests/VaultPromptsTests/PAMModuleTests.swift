import Foundation
import TestSupport
import Testing
import VaultKit
import VaultPrompts
import VaultTestKit

/// What a module can do to the process that it runs in, which is the helper's.
@Suite("PAM modules in their own process", .bounded, .serialized)
struct PAMModuleTests {
  // Verified to fail when a helper that ended without a verdict counts as success.
  @Test(
    "a module that ends its process is a denial, whatever the exit status, in either step",
    .requirement("Q12"),
    arguments: ["exit", "leave", "crash"])
  func exits(word: String) throws {
    let world = try PAMWorld()
    for (auth, account) in [(word, "return 0"), ("return 0", word), ("ask \(word)", "return 0")] {
      try world.module(auth: auth, account: account)
      let answer = try world.verify(ScriptedPrompt([.text("x")]))
      #expect(answer.agreed == nil)
      expect(answer.error?.code, equals: .verificationUnavailable)
    }
  }

  /// `vaultctl` itself goes on to its own end.
  @Test("a program that asks outlives a module that exits with 0")
  func outlives() throws {
    let world = try PAMWorld()
    try world.module(auth: "exit")
    let output = try PipeEnds()
    let process = try start(world, output: .writing(output))
    let said = output.readAll()
    try expect(process.wait(), equals: 3)
    #expect(String(decoding: said, as: UTF8.self).hasPrefix("verificationUnavailable: vault-pam ended"))
  }

  // Verified to fail when the channel stays on descriptor 1.
  @Test("what a module prints is no verdict and is not shown; what it writes into every descriptor denies")
  func prints() throws {
    let world = try PAMWorld()
    try world.module(auth: "print return 7")
    try expect(world.verify(ScriptedPrompt()).error?.code, equals: .authenticationFailed)
    try world.module(auth: "print return 0", account: "print return 0")
    #expect(try world.verify(ScriptedPrompt()).agreed == true)
    for result in [0, 7] {
      try world.module(auth: "print-everywhere return \(result)")
      try expect(world.verify(ScriptedPrompt()).error?.code, equals: .verificationUnavailable)
    }
  }

  // Verified to fail when the helper does not compare its process id before the verdict.
  @Test("a child of a module that goes on as if it were the module has no say")
  func forks() throws {
    let world = try PAMWorld()
    try world.module(auth: "fork return 7")
    try expect(world.verify(ScriptedPrompt()).error?.code, equals: .authenticationFailed)
    try world.module(auth: "fork return 0")
    #expect(try world.verify(ScriptedPrompt()).agreed == true)
  }

  // Verified to fail when signals are not set back, when other descriptors stay open, when the helper is dumpable, and
  // when it has no name.
  @Test(
    "modules find /dev/null as 0, 1 and 2, no descriptor to hand on, no signal held back, no core to dump, and the helper's name",
    arguments: ["descriptors", "signals", "dumpable", "name"])
  func process(word: String) throws {
    let world = try PAMWorld()
    try world.module(auth: word)
    let (helper, held) = (world.helper, dup(0))
    defer { close(held) }
    let answer = Answer.doing { () throws(VaultError) in
      var all = sigset_t()
      unsafe sigfillset(&all)
      unsafe pthread_sigmask(SIG_SETMASK, &all, nil)
      try PAMPresence(service: "vaultctl", helper: helper, limits: .init(by: HeldClock().now)).verifyPresence(
        PromptRequest(.presence, operation: "use the key"), asking: ScriptedPrompt())
    }
    #expect(try answer.wait().error == nil)
  }

  @Test("the environment is passed on to the modules")
  func environment() throws {
    let world = try PAMWorld()
    try world.module(auth: "variable")
    for (value, status) in [("yes", Int32(0)), (nil, 3)] as [(String?, Int32)] {
      let process = try start(world, ["VAULT_PAM_TEST": value].compactMapValues(\.self))
      try expect(process.wait(), equals: status)
    }
  }

  // MARK: its end

  // Verified to fail when the helper is not killed, and when it gets SIGTERM alone.
  @Test("a helper that is given up, by a deadline or by another thread, is gone, also when it blocks signals")
  func givenUp() throws {
    let world = try PAMWorld()
    let note = world.folder.appendingPathComponent("pid").path
    try world.module(auth: "block note=\(note) hang")
    let clock = HeldClock()
    let late = world.begin(ScriptedPrompt(), limits: .init(silence: .milliseconds(50), by: clock.now))
    let first = try world.processID(note)
    try clock.pass(.milliseconds(50))
    try expect(late.wait().error?.code, equals: .verificationUnavailable)
    #expect(!FileManager.default.fileExists(atPath: "/proc/\(first)"))
    try FileManager.default.removeItem(atPath: note)

    let presence = PAMPresence(service: "vaultctl", helper: world.helper, limits: .init(by: HeldClock().now))
    let answer = Answer.doing { () throws(VaultError) in
      try presence.verifyPresence(
        PromptRequest(.presence, operation: "use the key"), asking: ScriptedPrompt())
    }
    let second = try world.processID(note)
    presence.cancel()
    try expect(answer.wait().error?.code, equals: .cancelled)
    #expect(!FileManager.default.fileExists(atPath: "/proc/\(second)"))
  }

  // Verified to fail when a verification that begins or ends takes the place of those that are open.
  @Test("cancelling ends every verification that is open, also when another began and ended meanwhile")
  func cancelAll() throws {
    let world = try PAMWorld()
    let presence = PAMPresence(service: "vaultctl", helper: world.helper, limits: .init(by: HeldClock().now))
    func begin() -> Answer {
      Answer.doing { () throws(VaultError) in
        try presence.verifyPresence(
          PromptRequest(.presence, operation: "use the key"), asking: ScriptedPrompt())
      }
    }
    var open: [Answer] = []
    for number in 0..<2 {
      let note = world.folder.appendingPathComponent("pid\(number)").path
      try world.module(auth: "note=\(note) hang")
      open.append(begin())
      _ = try world.processID(note)
    }
    try world.module(auth: "return 0")
    #expect(try begin().wait().agreed == true)
    presence.cancel()
    for answer in open { try expect(answer.wait().error?.code, equals: .cancelled) }
  }

  @Test("many threads ask at once, and each gets the answer of its own helper")
  func threads() throws {
    let world = try PAMWorld()
    try world.matrix(password: "1234")
    let helper = world.helper
    let answers = (0..<16).map { number in
      Answer.doing { () throws(VaultError) in
        let presence = PAMPresence(service: "vaultctl", helper: helper, limits: .init(by: HeldClock().now))
        try presence.verifyPresence(
          PromptRequest(.presence, operation: "use the key"),
          asking: ScriptedPrompt([.text(number % 2 == 0 ? "1234" : "4321")]))
      }
    }
    for (number, answer) in answers.enumerated() {
      #expect(try answer.wait().error?.code == (number % 2 == 0 ? nil : .authenticationFailed))
    }
  }

  // Verified to fail when the kernel is not asked to end the helper with its program.
  @Test("a helper whose program was killed ends too, also when it blocks signals")
  func orphan() throws {
    let world = try PAMWorld()
    let note = world.folder.appendingPathComponent("pid").path
    try world.module(auth: "block note=\(note) hang")
    let process = try start(world)
    let helper = try world.processID(note)
    defer { if !hasEnded(helper) { kill(helper, SIGKILL) } }
    #expect(!hasEnded(helper))
    process.end()
    try waitUntil("the end of a helper whose program was killed") { hasEnded(helper) }
  }

  @Test("no helper is left behind as a zombie, after success and after denial")
  func zombies() throws {
    let world = try PAMWorld()
    let note = world.folder.appendingPathComponent("pid").path
    for (words, isRight) in [
      ("return 0", true), ("return 7", false), ("exit", false), ("ask return 0", false),
    ] {
      try world.module(auth: "note=\(note) \(words)")
      #expect(try world.verify(ScriptedPrompt()).agreed == (isRight ? true : nil))
      #expect(!FileManager.default.fileExists(atPath: "/proc/\(try world.processID(note))"), "\(words)")
      try FileManager.default.removeItem(atPath: note)
    }
  }

  private func start(
    _ world: PAMWorld, _ variables: [String: String] = [:], output: Program.Stream = .none
  ) throws -> Child.Running {
    try Program(
      Built.path("vaultctl-testing"),
      ["verify-presence", world.folder.appendingPathComponent("pam.d").path, "vaultctl", "x"],
      environment: ProcessInfo.processInfo.environment.merging(try clock.variables()) { $1 }
        .merging(variables) { $1 }
    ).start(output: output, errors: .inherited)
  }

  /// For programs that are started: no limit of theirs passes.
  private let clock = HeldClock()
}
