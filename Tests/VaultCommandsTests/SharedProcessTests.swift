import CommandLineKit
import Foundation
import SecretMemory
import Synchronization
import TestSupport
import Testing
import TransportPrograms
import VaultCommands
import VaultKit
import VaultPrompts
import VaultTestKit
import VaultWords

/// Commands that run in one process, as the agent runs them: each with its own descriptors and signals, on a vault that they share.
@Suite("Commands that share a process", .bounded)
struct SharedProcessTests {
  private let vaults: SharedVaults

  init() throws { vaults = try SharedVaults() }

  @Test("two commands at once do not see each other's output, log lines and errors")
  func apart() throws {
    let requests = try (0..<2).map { _ in try (0..<20).map { _ in try Request(vaults, input: "secret") } }
    let crowd = Crowd()
    let endings = Mutex<[Ending]>([])
    crowd.run(2) { number in
      crowd.meet()
      for (index, request) in requests[number].enumerated() {
        let words = [
          "add", "n\(number)-\(index)", "--json", "--log", "VAULT", "--log-level", "debug",
        ]
        let ending = request.run(words)
        endings.withLock { $0.append(ending) }
      }
    }
    expect(endings.withLock { $0 }, equals: Array(repeating: .exit(.done), count: 40))
    var threads: [Set<String>] = []
    for (number, requests) in requests.enumerated() {
      var own: Set<String> = []
      for (index, request) in requests.enumerated() {
        #expect(request.text.contains("n\(number)-\(index)") && !request.text.contains("n\(1 - number)-"))
        let places = request.said.split(separator: "\n").compactMap {
          $0.firstMatch(of: /:\d+\] \[VAULT_/)?.output
        }
        #expect(places.count > 1, "\(request.said)")
        own.formUnion(places.map { $0.prefix { $0 != "]" } }.map(String.init))
      }
      threads.append(own)
    }
    expect(threads.map(\.count), equals: [1, 1])
    #expect(threads[0].isDisjoint(with: threads[1]))
  }

  @Test("a signal that one command gets before its commit ends it, and no other")
  func signals() throws {
    let (ended, other) = (try Request(vaults, input: "secret"), try Request(vaults, input: "secret"))
    #expect(ended.interruption.came(SIGTERM))
    expect(ended.run(["add", "first"]), equals: .signal(SIGTERM))
    expect(ended.text, equals: "")
    expect(other.run(["add", "second"]), equals: .exit(.done))
    try expect(vaults.core.items(matching: Query()).map(\.name), equals: ["second"])
  }

  @Test("a signal after the work is held, and the command ends by its own exit code")
  func heldSignal() throws {
    let interruption = Interruption()
    try interruption.hold()
    #expect(!interruption.came(SIGHUP))
    expect(interruption.signal, equals: nil)
    try interruption.check()
  }

  @Test("the end of a command whose reader has gone is an outcome, SIGPIPE, and the process goes on")
  func lostReader() throws {
    for words in [["ls", "--json"], ["ls", "--help"]] {
      for isIgnored in [false, true] {
        let pipe = try PipeEnds()
        pipe.closeReading()
        let request = try Request(vaults)
        request.world.standardOutput = pipe.writer
        request.world.ignoredBrokenPipes = isIgnored
        let ending = holdingPipeSignal { request.run(words) }
        expect(ending, equals: isIgnored ? .exit(.io) : .signal(SIGPIPE), "\(words)")
        #expect(request.said.isEmpty != isIgnored)
      }
    }
  }

  @Test("a command that waits for its input ends when its client has gone, and has done nothing")
  func silentInput() async throws {
    let pipe = try PipeEnds()
    let request = try Request(vaults)
    request.world.standardInput = pipe.reader
    let ending = onThread { request.run(["add", "mail"]) }
    expect(try Request(vaults, input: "other").run(["add", "other"]), equals: .exit(.done))
    request.interruption.clientIsGone()
    try await expect(ending.value, equals: .signal(SIGHUP))
    try expect(vaults.core.items(matching: Query()).map(\.name), equals: ["other"])
    #expect(pipe.writer >= 0)
  }

  @Test("a command whose output has no room, and no reader that takes it, ends when its client has gone")
  func fullOutput() async throws {
    let pipe = try PipeEnds()
    _ = fcntl(pipe.writer, F_SETFL, O_NONBLOCK)
    var byte: UInt8 = 0
    while unsafe write(pipe.writer, &byte, 1) == 1 {}
    _ = fcntl(pipe.writer, F_SETFL, 0)
    let request = try Request(vaults)
    request.world.standardOutput = pipe.writer
    let ending = onThread { request.run(["status"]) }
    expect(try Request(vaults, input: "other").run(["add", "other"]), equals: .exit(.done))
    request.interruption.clientIsGone()
    try await expect(ending.value, equals: .signal(SIGHUP))
    #expect(pipe.reader >= 0)
  }

  @Test("a verb that the agent does not run is refused in a batch there")
  func clientVerb() throws {
    let request = try Request(vaults, input: #"{"args":["doctor"]}"# + "\n")
    request.world.host = AnsweringHost { .terminal(.cancelled) }
    expect(request.run(["vault", "batch"]), equals: .exit(.refused))
    #expect(request.text.contains("notInAgent"), "\(request.text)")
  }

  @Test(
    "a new file with a secret is made where the client is, by a command that commits",
    arguments: [false, true])
  func secretFile(isEnded: Bool) throws {
    let request = try Request(vaults)
    let pin = try Scratch(Array("8306".utf8))
    request.world.host = hostInVaultFolder
    if isEnded { request.interruption.came(SIGTERM) }
    let words = ["pin", "set", "door", "--unlock-key-out", "key", "--new-pin-fd", "\(pin.descriptor)"]
    expect(
      request.run(words), equals: isEnded ? .signal(SIGTERM) : .exit(.done), "\(request.said)")
    expect(FileManager.default.fileExists(atPath: vaults.place.folder + "/key"), equals: !isEnded)
    try expect(vaults.core.items(matching: Query()).count, equals: isEnded ? 0 : 1)
  }

  @Test("a file that is there already where the client is stays, and the error names a free name")
  func takenSecretFile() throws {
    let file = try vaults.file("key", "mine")
    let request = try Request(vaults)
    request.world.host = hostInVaultFolder
    expect(request.run(["pin", "set", "door", "--unlock-key-out", "key"]), equals: .exit(.alreadyExists))
    #expect(request.said.contains("name another file, such as key-2"), "\(request.said)")
    try expect(String(contentsOfFile: file, encoding: .utf8), equals: "mine")
  }

  /// The host of a client whose working directory is that of the vault.
  private var hostInVaultFolder: AnsweringHost {
    var host = AnsweringHost { .terminal(.cancelled) }
    host.folder = vaults.place.folder + "/"
    return host
  }

  private func holdingPipeSignal<R>(_ body: () -> R) -> R {
    var (signals, before) = (sigset_t(), sigset_t())
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGPIPE)
    unsafe pthread_sigmask(SIG_BLOCK, &signals, &before)
    defer {
      var none = timespec()
      while unsafe sigtimedwait(&signals, nil, &none) > 0 {}
      unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
    }
    return body()
  }
}

/// A passcode that is given, or asked for, while other commands use the same vault.
@Suite("Passcodes of a shared vault", .bounded)
struct SharedPasscodeTests {
  private let vaults: SharedVaults

  init() throws {
    vaults = try SharedVaults(passcode: "right")
    _ = try vaults.core.add(NewItem(.genericPassword, name: "mail"), secret: SecretBytes(testing: "s3cret"))
  }

  @Test("a wrong passcode that is given ends a command with 3 although the vault is unlocked, and counts")
  func wrong() throws {
    let request = try Request(vaults)
    let file = try vaults.file("wrong", "guess")
    expect(
      request.run(["get", "mail", "--passcode-file", file]), equals: .exit(.authenticationFailed))
    expect(request.text, equals: "")
    try expect(vaults.core.status().passcodeFailures, equals: 1)
    #expect(vaults.core.isUnlocked)
  }

  @Test("a right passcode that is given changes nothing where the vault is unlocked")
  func right() throws {
    let before = try vaults.core.auditEntries().count
    let request = try Request(vaults)
    let file = try vaults.file("right", "right")
    expect(request.run(["get", "mail", "--passcode-file", file]), equals: .exit(.done))
    expect(request.text, equals: "s3cret")
    let new = try vaults.core.auditEntries().dropFirst(before)
    expect(new.map(\.operation), equals: [.given])
    try expect(vaults.core.status().passcodeFailures, equals: 0)
    expect(vaults.uses.load(ordering: .relaxed), equals: 1)
  }

  @Test("a batch judges its passcode once, whatever its lines are")
  func batch() throws {
    let lines = #"{"args":["get","mail"]}"# + "\n"
    let request = try Request(vaults, input: lines + lines)
    let file = try vaults.file("wrong", "guess")
    let words = ["vault", "batch", "--keep-going", "--passcode-file", file]
    expect(request.run(words), equals: .exit(.authenticationFailed))
    try expect(vaults.core.status().passcodeFailures, equals: 1)
    #expect(!request.text.contains("s3cret"))
  }

  @Test(
    "a command goes on when another one unlocks the vault at its prompt, and no prompt is said to be cancelled"
  )
  func unlockedMeanwhile() throws {
    vaults.core.lock()
    let core = vaults.core
    let request = try Request(vaults)
    request.world.host = AnsweringHost {
      try? core.unlock(with: Passcode(testing: "right"))
      return .terminal(.cancelled)
    }
    let before = try core.auditEntries().count
    expect(request.run(["get", "mail"]), equals: .exit(.done))
    expect(request.text, equals: "s3cret")
    let new = try core.auditEntries().dropFirst(before)
    #expect(!new.contains { $0.result == .cancelled }, "\(new)")
  }

  @Test("a looking command uses no secret, and one that unlocks the vault says so")
  func uses() throws {
    expect(try Request(vaults).run(["ls"]), equals: .exit(.done))
    expect(try Request(vaults).run(["status"]), equals: .exit(.done))
    expect(vaults.uses.load(ordering: .relaxed), equals: 0)
    vaults.core.lock()
    let file = try vaults.file("right", "right")
    let words = ["get", "mail", "--passcode-file", file]
    expect(try Request(vaults).run(words), equals: .exit(.done))
    #expect(vaults.unlocks.load(ordering: .relaxed) > 0)
  }
}

/// A vault that is open for all commands.
private final class SharedVaults: OpenVaults {
  let place = TemporaryVault(environment: .testing(clock: FixedClock(at: Instant(seconds: 1_900_000_000))))
  let core: VaultCore
  let uses = Atomic<Int>(0)
  let unlocks = Atomic<Int>(0)

  init(passcode: String? = nil) throws { core = try place.makeCore(passcode: passcode) }

  var path: String { place.path }
  var deviceKey: String? { nil }

  func vault(
    at path: String, deviceKey: String?, open: () throws -> VaultCore
  ) throws -> (core: VaultCore, isNew: Bool)? { (core, false) }

  func beginAsking(_ core: VaultCore) -> Bool { !core.isUnlocked }
  func endAsking() {}
  func used(_ core: VaultCore) { uses.add(1, ordering: .relaxed) }
  func unlocked(_ core: VaultCore) { unlocks.add(1, ordering: .relaxed) }
  func provedPasscode(_ core: VaultCore) {}

  /// A private file with a secret in it.
  func file(_ name: String, _ content: String) throws -> String {
    let path = place.folder + "/" + name
    try Data(content.utf8).write(to: URL(fileURLWithPath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    return path
  }
}

/// One command of several in this process. Used by one thread at a time.
private final class Request: @unchecked Sendable {
  let interruption = Interruption()
  var world: World
  private let input: Scratch
  private let output: Scratch
  private let errors: Scratch

  init(_ vaults: SharedVaults, input: String = "") throws {
    self.input = try Scratch(Array(input.utf8))
    (output, errors) = (try Scratch(), try Scratch())
    let variables = ["VAULTCTL_AGENT": "never", "HOME": vaults.place.folder]
    world = World(environment: Environment(variables), interruption: interruption)
    world.vault = vaults.place.environment
    world.vaults = vaults
    world.standardInput = self.input.descriptor
    world.standardOutput = output.descriptor
    world.standardError = errors.descriptor
  }

  func run(_ words: [String]) -> Ending { VaultControl.run(words, in: world) }

  /// What standard output and standard error got.
  var text: String { String(decoding: output.content, as: UTF8.self) }
  var said: String { String(decoding: errors.content, as: UTF8.self) }
}

/// A host of a client whose prompts end in one way.
private struct AnsweringHost: VaultCommands.Host, HostPrompt {
  let end: @Sendable () -> PromptFailure
  /// The directory of relative paths of files, with a slash; empty for that of this process.
  var folder = ""
  private let local = LocalHost(environment: Environment([:]))

  init(_ end: @escaping @Sendable () -> PromptFailure) { self.end = end }

  func prompt(_ way: AutomaticPrompt.Way) -> any HostPrompt { self }
  var presence: any PresenceSource { local.presence }
  var biometry: any BiometrySource { local.biometry }

  func type(
    _ request: PromptRequest, limit: Int, isRepeated: Bool
  ) throws(PromptFailure) -> SecretBytes { throw end() }

  func readSecret(_ request: PromptRequest) throws(VaultError) -> SecretBytes {
    throw VaultError(.cancelled, "declined")
  }

  func confirm(_ request: PromptRequest) throws(VaultError) -> Bool { false }
  func allow(_ request: PromptRequest) throws(VaultError) -> GrantAnswer { .no }

  func lend<R: ~Copyable>(
    _ file: HostFile, _ body: (Int32) throws(CommandError) -> R
  ) throws(CommandError) -> R { try local.lend(file, body) }

  func exists(_ path: String) throws(CommandError) -> Bool { try local.exists(folder + path) }
  func isOwn(_ path: String) -> Bool { local.isOwn(path) }

  func makeFile(_ path: String, interruption: Interruption) throws(CommandError) -> any UnfinishedFile {
    try local.makeFile(folder + path, interruption: interruption)
  }

  func removeFile(_ path: String) { local.removeFile(folder + path) }

  func edit(_ text: SharedSecret, interruption: Interruption) throws(CommandError) -> SharedSecret { text }

  func copyToClipboard(_ secret: SharedSecret, seconds: Int64) throws(CommandError) -> CopiedSecret {
    CopiedSecret(clipboard: "none", notes: [])
  }

  func programs(within time: Duration) -> any ProgramRunner { LocalRunner(.init(time: time)) }

  func become(
    _ program: ProgramStart, with secrets: [HandedSecret], after done: [String]
  ) throws(CommandError) {}

  func holdingEndingSignal<R, E: Error>(
    for seconds: Int, _ body: () throws(E) -> R
  ) throws(E) -> R { try body() }
}
