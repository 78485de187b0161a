import Foundation
import TestSupport
import Testing
import VaultKit
import VaultPrompts
import VaultTestKit

@Suite("PAM", .bounded, .requirement("R18"), .serialized)
struct PAMPresenceTests {
  // MARK: with pam_matrix: permit, deny, wrong

  @Test("the right password opens; its prompt shows the module's words and what is about to happen")
  func right() throws {
    let world = try PAMWorld()
    try world.matrix(password: "1234")
    let prompt = ScriptedPrompt([.text("1234")])
    let answer = try world.verify(prompt)
    #expect(answer.error == nil)
    #expect(answer.agreed == true)
    let request = try #require(prompt.requests.first)
    expect(request.operation, equals: "use the key")
    expect(request.label, equals: "mail")
    expect(request.question, equals: "login password")
    expect(prompt.requests.count, equals: 1)
  }

  /// Fails when the result of `pam_authenticate` is not looked at.
  @Test(
    "a wrong, an empty and a long password are denied",
    arguments: ["12345", "", String(repeating: "1", count: 511)])
  func wrong(password: String) throws {
    let world = try PAMWorld()
    try world.matrix(password: "1234")
    let answer = try world.verify(ScriptedPrompt([.text(password)]))
    expect(answer.error?.code, equals: .authenticationFailed)
    #expect(answer.agreed == nil)
  }

  @Test("the system's pam_permit opens and pam_deny denies, without a question")
  func permitAndDeny() throws {
    let world = try PAMWorld()
    let prompt = ScriptedPrompt()
    try world.service("vaultctl", "auth required pam_permit.so", "account required pam_permit.so")
    #expect(try world.verify(prompt).agreed == true)
    for (auth, account) in [("deny", "permit"), ("permit", "deny"), ("deny", "deny")] {
      try world.service("vaultctl", "auth required pam_\(auth).so", "account required pam_\(account).so")
      try expect(world.verify(prompt).error?.code, equals: .authenticationFailed, "\(auth) \(account)")
    }
    expect(prompt.requests, equals: [])
  }

  /// Verified to fail when only `pam_authenticate` is asked. Fails too when any result but 0 counts as success, and
  /// when a result that nobody knows is taken for one.
  @Test(
    "only success of both steps opens: each of PAM's results, in either step, is a denial", arguments: 1...40)
  func results(number: Int) throws {
    let world = try PAMWorld()
    // PAM itself takes "ignore" (25) of a required module for no opinion, and without an opinion says no.
    try world.module(auth: "return \(number)")
    let first = try world.verify(ScriptedPrompt())
    #expect(first.agreed == nil)
    #expect([.authenticationFailed, .verificationUnavailable].contains(first.error?.code))
    try world.module(auth: "return 0", account: "return \(number)")
    let second = try world.verify(ScriptedPrompt())
    #expect(second.agreed == nil)
    #expect([.authenticationFailed, .verificationUnavailable].contains(second.error?.code))
  }

  @Test("a result that no PAM has is a denial", arguments: [-1, -5, 4711, Int(Int32.max), Int(Int32.min)])
  func nonsense(number: Int) throws {
    let world = try PAMWorld()
    for (auth, account) in [(number, 0), (0, number), (number, number)] {
      try world.module(auth: "return \(auth)", account: "return \(account)")
      #expect(try world.verify(ScriptedPrompt()).agreed == nil)
    }
    try world.module(auth: "return 0", account: "return 0")
    #expect(try world.verify(ScriptedPrompt()).agreed == true)
  }

  // MARK: services and modules that are not there

  /// Verified to fail when the file is not looked for, and PAM takes the service `other`.
  @Test("a service without a file is unsupported, also where `other` permits everything")
  func missingService() throws {
    let world = try PAMWorld()
    try world.service("other", "auth required pam_permit.so", "account required pam_permit.so")
    let answer = try world.verify(ScriptedPrompt())
    expect(answer.error?.code, equals: .unsupported)
    #expect(answer.error?.hint?.contains("scripts/install-pam") == true)
  }

  // Verified to fail when the file need only exist under the name that was given.
  @Test(
    "a name or a file of which libpam makes the service `other` is not asked for, also where that permits everything"
  )
  func otherService() throws {
    let world = try PAMWorld()
    let deny = ["auth required pam_deny.so", "account required pam_deny.so"]
    try world.service("other", "auth required pam_permit.so", "account required pam_permit.so")
    for name in ["Vaultctl", "below/vaultctl", "folder"] {
      let path = world.folder.appendingPathComponent("pam.d/\(name)").path
      let folder = name == "folder" ? path : URL(fileURLWithPath: path).deletingLastPathComponent().path
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      if name != "folder" { try world.service(name, deny[0], deny[1]) }
      let code = try world.verify(ScriptedPrompt(), service: name).error?.code
      #expect(code == (name == "folder" ? .verificationUnavailable : .unsupported), "\(name)")
    }
    for name in ["", ".", "..", "/", "a\0b", String(repeating: "./", count: 200) + "other"] {
      #expect(try world.verify(ScriptedPrompt(), service: name).agreed == nil, "\(name)")
    }
  }

  @Test("a service that its user cannot read is an error of its own")
  func unreadable() throws {
    let world = try PAMWorld()
    try world.service("vaultctl", "auth required pam_permit.so", "account required pam_permit.so")
    let services = world.folder.path + "/pam.d"
    unsafe expect(chmod(services + "/vaultctl", 0), equals: 0)
    var words = [Built.path("vaultctl-testing"), "verify-presence", services, "vaultctl", "x"]
    // Root reads every file, but for a process that has given up this right.
    if geteuid() == 0 { words = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"] + words }
    let result = try Program(words[0], Array(words.dropFirst())).run()
    #expect(result.status == 3 && result.text.hasPrefix("verificationUnavailable"), "\(result.text)")
    #expect(result.text.contains("cannot be read"), "\(result.text)")
  }

  @Test(
    "a broken service is an error of its own, not a wrong password",
    arguments: [
      "auth required /nonexistent/module.so\naccount required pam_permit.so",
      "auth required /etc/passwd\naccount required pam_permit.so",
      "auth required pam_permit.so\naccount required /nonexistent/module.so",
      "auth required",
      "this is no line of PAM at all",
      "@include nowhere",
      "",
    ])
  func broken(lines: String) throws {
    let world = try PAMWorld()
    try world.service("vaultctl", lines)
    let answer = try world.verify(ScriptedPrompt())
    #expect(answer.agreed == nil)
    #expect([.verificationUnavailable, .authenticationFailed].contains(answer.error?.code))
  }

  @Test("a module that sets another user is denied")
  func otherUser() throws {
    let world = try PAMWorld()
    try world.module(auth: "nobody return 0")
    if PAMWorld.user != "nobody" {
      try expect(world.verify(ScriptedPrompt()).error?.code, equals: .authenticationFailed)
    }
  }

  // MARK: the conversation

  /// Verified to fail when an error of the conversation is forgotten. These modules say success whatever they were
  /// answered.
  @Test("whoever declines is not overruled by a module that says success", .requirement("Q11"))
  func conversationErrors() throws {
    let world = try PAMWorld()
    try world.module(auth: "ask return 0")
    for (answer, code) in [
      (ScriptedPrompt.Answer.cancel, VaultError.Code.cancelled), (.nobody, .interactionNotAllowed),
      (.text("a\0b"), .malformed), (.text(String(repeating: "x", count: 512)), .malformed),
      (.text(String(repeating: "x", count: 70 * 1024)), .malformed),
    ] {
      let outcome = try world.verify(ScriptedPrompt([answer]))
      expect(outcome.error?.code, equals: code)
      #expect(outcome.agreed == nil)
    }
    #expect(try world.verify(ScriptedPrompt([.text("x")])).agreed == true)
  }

  // Verified to fail when CPAM forgets the first fault of the conversation.
  @Test(
    "a module that asks in a way that is none is refused, also when it then says success, in either step",
    .requirement("Q11"),
    arguments: ["binary", "style", "null", "none", "minus", "many", "endless"])
  func malformedConversation(word: String) throws {
    let world = try PAMWorld()
    try world.module(auth: "\(word) return 7")
    #expect(try world.verify(ScriptedPrompt([.text("x"), .text("x")])).agreed == nil)
    try world.module(auth: "\(word) return 0")
    try expect(world.verify(ScriptedPrompt()).error?.code, equals: .verificationUnavailable)
    try world.module(auth: "ask return 0", account: "\(word) return 0")
    try expect(world.verify(ScriptedPrompt([.text("x")])).error?.code, equals: .verificationUnavailable)
  }

  // Verified to fail when the faults are counted before `pam_end`.
  @Test("a module that asks while it cleans up is held to the same rules, and only then is there a verdict")
  func atEnd() throws {
    let world = try PAMWorld()
    try world.module(auth: "binary-at-end return 0")
    try expect(world.verify(ScriptedPrompt()).error?.code, equals: .verificationUnavailable)
    try world.module(auth: "ask-at-end return 0")
    try expect(world.verify(ScriptedPrompt([.cancel])).error?.code, equals: .cancelled)
    #expect(try world.verify(ScriptedPrompt([.text("x")])).agreed == true)
  }

  @Test("texts and errors are shown, what is too long is cut, a second question says what was wrong")
  func messages() throws {
    let world = try PAMWorld()
    try world.module(auth: "text ask error ask-aloud long return 0")
    let prompt = ScriptedPrompt([.text("one"), .text("two")])
    #expect(try world.verify(prompt).agreed == true)
    expect(prompt.lines.prefix(2), equals: ["touch the key", "that was wrong"])
    #expect(prompt.lines.last?.hasSuffix("more characters)") == true)
    expect(prompt.requests.map(\.problem), equals: [nil, "that was wrong"])
    expect(PromptText(prompt.requests[0]).question, equals: "PAM asks: Secret \\u{1B}[2Jword")
  }

  @Test("two questions in one message are two prompts")
  func two() throws {
    let world = try PAMWorld()
    try world.module(auth: "two return 0")
    let prompt = ScriptedPrompt([.text("a"), .text("b")])
    #expect(try world.verify(prompt).agreed == true)
    expect(prompt.requests.count, equals: 2)
  }

  // MARK: modules that hang

  /// The limits of these tests, which pass by their clock.
  private static func limits(by clock: HeldClock) -> PAMPresence.Limits {
    .init(silence: .milliseconds(50), afterText: .milliseconds(150), by: clock.now)
  }

  /// Verified to fail when 25 s of silence are allowed instead of the limit, and when the limit is half as long.
  @Test(
    "a module that hangs is denied after the limit and not before, also after an answer",
    arguments: ["", "ask "])
  func hang(first: String) throws {
    #expect(PAMPresence.Limits().silence < .seconds(5), "what is shipped")
    let (world, clock) = (try PAMWorld(), HeldClock())
    let note = world.folder.path + "/pid"
    try world.module(auth: "\(first)note=\(note) hang")
    let answer = world.begin(ScriptedPrompt([.text("x")]), limits: Self.limits(by: clock))
    _ = try world.processID(note)
    try clock.pass(.milliseconds(49))
    try clock.awaitReadings()
    #expect(!answer.isThere)
    clock.advance(by: .milliseconds(1))
    try expect(answer.wait().error?.code, equals: .verificationUnavailable)
  }

  /// Verified to fail when a text does not lengthen the limit, and when no limit follows a text.
  @Test("a text may announce a wait for a person, which is longer, but has an end too", arguments: [50, 150])
  func longer(milliseconds: Int) throws {
    let (world, clock) = (try PAMWorld(), HeldClock())
    let pipe = try NamedPipe(world.folder.path + "/pipe")
    try world.module(auth: "text until=\(pipe.path) return 0")
    let prompt = ScriptedPrompt()
    let answer = world.begin(prompt, limits: Self.limits(by: clock))
    try waitUntil("the text of the module") { prompt.lines == ["touch the key"] }
    try clock.pass(.milliseconds(milliseconds))
    try clock.awaitReadings(unless: { answer.isThere })
    if milliseconds < 150 { pipe.open() }
    try expect(answer.wait().error?.code, equals: milliseconds < 150 ? nil : .verificationUnavailable)
  }

  @Test("a module that finishes when nobody waits any more changes nothing")
  func late() throws {
    let (world, clock) = (try PAMWorld(), HeldClock())
    let (pipe, note) = (try NamedPipe(world.folder.path + "/pipe"), world.folder.path + "/pid")
    try world.module(auth: "note=\(note) until=\(pipe.path) return 0")
    let answer = world.begin(ScriptedPrompt(), limits: Self.limits(by: clock))
    _ = try world.processID(note)
    try clock.pass(.milliseconds(50))
    try expect(answer.wait().error?.code, equals: .verificationUnavailable)
    pipe.open()
    try world.module(auth: "return 0")
    #expect(try world.verify(ScriptedPrompt()).agreed == true)
  }

  // MARK: the real pam_unix

  @Test(
    "the system's pam_unix, with a shadow file of our own: right opens, wrong is denied, an empty one too")
  func unix() throws {
    let (world, clock) = (try PAMWorld(), HeldClock())
    try world.service("vaultctl", "auth required pam_unix.so", "account required pam_unix.so")
    let hash = try output("openssl", "passwd", "-6", "-salt", "vaulttest", "right one")
    let setUp = """
      set -e
      mount --make-rprivate / 2>/dev/null || true
      sed 's|^root:[^:]*:|root:x:|' /etc/passwd > '\(world.folder.path)/passwd'
      echo 'root:\(hash):19000:0:99999:7:::' > '\(world.folder.path)/shadow'
      mount --bind '\(world.folder.path)/passwd' /etc/passwd
      mount --bind '\(world.folder.path)/shadow' /etc/shadow
      """
    func run(_ password: String) throws -> (status: Int32, text: String) {
      let tool = "'\(Built.path("vaultctl-testing"))' verify-presence '\(world.folder.path)/pam.d' vaultctl"
      // No limit passes for it.
      let variables = try clock.variables().map { "\($0.key)='\($0.value)'" }.joined(separator: " ")
      return try shell(setUp + "\n\(variables) exec \(tool) '\(password)'")
    }
    let trial = try shell(setUp + "\necho ready")
    if !trial.text.hasSuffix("ready") { try skip(.namespaces, "the real pam_unix: \(trial.text)") }
    try expect(run("right one").text, equals: "verified")
    #expect(try run("wrong one").text.hasPrefix("authenticationFailed"))
    #expect(try run("").text.hasPrefix("authenticationFailed"))
  }

  private func shell(_ script: String) throws -> (status: Int32, text: String) {
    try run("/usr/bin/unshare", ["--user", "--map-root-user", "--mount", "/bin/sh", "-c", script])
  }

  private func output(_ program: String, _ words: String...) throws -> String {
    try run(program, words).text
  }

  private func run(_ program: String, _ words: [String]) throws -> (status: Int32, text: String) {
    let result = try Program(program, words).run()
    return (result.status, result.text.trimmingCharacters(in: .whitespacesAndNewlines))
  }

  @Test(
    "libpam is loaded by the helper alone, and what is shipped knows no function that looks for services elsewhere"
  )
  func shipped() throws {
    func libraries(_ program: String) throws -> Bool {
      let list = try output("ldd", Built.path(program))
      try #require(list.contains("libc.so.6"), "\(list)")
      return list.contains("libpam")
    }
    #expect(try libraries("vault-pam"))
    #expect(try !libraries("vaultctl"))
    #expect(try !contains("vaultctl", "libpam.so"))
    for program in ["vaultctl", "vault-pam"] {
      #expect(try !contains(program, "pam_start_confdir"), "\(program)")
    }
    #expect(try contains("vault-pam-testing", "pam_start_confdir"))
  }

  private func contains(_ program: String, _ text: String) throws -> Bool {
    let url = URL(fileURLWithPath: Built.path(program))
    return try Data(contentsOf: url, options: .mappedIfSafe).range(of: Data(text.utf8)) != nil
  }
}
