import Foundation
import Glibc
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// Verified to fail when the caller stays with the store after its call.
@Suite("A vault that serves other processes", .bounded, .requirement("G12"))
struct CallerTests {
  private let place = TemporaryVault(environment: .testing(clock: FixedClock()))
  private let peer = Caller(user: 1001, process: 4711, executable: "/usr/bin/report")

  @Test("an entry names this process and, only for a call that serves another one, the caller")
  func logged() async throws {
    let core = try place.makeCore()
    let vault = Vault(core: core)
    let own = try await vault.add(NewItem(.genericPassword, name: "own"), secret: SecretBytes(testing: "s"))
    let served = try await vault.asked(by: peer).add(
      NewItem(.genericPassword, name: "served"), secret: SecretBytes(testing: "s"))
    try await vault.delete(Query(id: own.id))
    try await vault.asked(by: peer).delete(Query(id: served.id))
    let entries = try await vault.auditEntries().suffix(4)
    expect(entries.map(\.caller), equals: [nil, peer, nil, peer])
    #expect(entries.allSatisfy { $0.process == Caller.current.process })
    #expect(entries.allSatisfy { $0.executable == Caller.current.executable })
  }

  @Test("a prompt shows the caller, and a lock holds for all callers")
  func asked() async throws {
    let vault = Vault(core: try place.makeCore(passcode: "passcode"))
    let item = try await vault.add(
      NewItem(.genericPassword, name: "n", access: AccessControl(.devicePasscode)),
      secret: SecretBytes(testing: "s"))
    vault.asked(by: peer).lock()
    #expect(await !vault.isUnlocked)
    let prompt = ScriptedPrompt([.text("passcode")])
    let context = AuthenticationContext(reason: "", prompt: prompt)
    _ = try await vault.asked(by: peer).secret(of: item.id, context: context)
    expect(prompt.requests.map(\.requester), equals: [.init(processID: 4711, executable: "/usr/bin/report")])
    #expect(await vault.isUnlocked)
  }

  // Verified to fail when kept verifications, grants and evaluations have no caller.
  @Test("what a person verified for one caller serves no other: kept, prepared or evaluated")
  func bound() async throws {
    let vault = Vault(core: try place.makeCore(passcode: "passcode"))
    let id = try await vault.add(
      NewItem(.genericPassword, name: "n", access: AccessControl(.devicePasscode)),
      secret: SecretBytes(testing: "s")
    ).id
    let prompt = ScriptedPrompt(Array(repeating: .text("passcode"), count: 9))
    let context = AuthenticationContext(reason: "", prompt: prompt, reuse: .seconds(60))
    let other = Caller(user: 1002, process: 4712)
    for caller in [peer, peer, other, peer] {
      _ = try await vault.asked(by: caller).secret(of: id, context: context)
    }
    _ = try await vault.secret(of: id, context: context)
    expect(prompt.requests.map(\.requester?.processID), equals: [4711, 4712, Int32(Caller.current.process)])
    try await vault.asked(by: peer).prepareSecrets(of: [id], context: context)
    await expect(
      .verificationNeeded,
      awaiting: {
        _ = try await vault.asked(by: other).read { transaction throws(VaultError) in
          try transaction.secret(of: id, context: context).byteCount
        }
      })
    try await vault.asked(by: peer).prepareSecrets(of: [id], context: context)
    let count = try await vault.asked(by: peer).read { transaction throws(VaultError) in
      try transaction.secret(of: id, context: context).byteCount
    }
    expect(count, equals: 1)
    let evaluation = try await vault.asked(by: peer).evaluate(.devicePasscode, context: context)
    #expect(await vault.asked(by: peer).isCurrent(evaluation))
    #expect(await !vault.asked(by: other).isCurrent(evaluation))
  }

  @Test("a process with the number of an earlier one is another caller: what a person verified serves it not")
  func laterProcess() async throws {
    let vault = Vault(core: try place.makeCore(passcode: "passcode"))
    let id = try await vault.add(
      NewItem(.genericPassword, name: "n", access: AccessControl(.devicePasscode)),
      secret: SecretBytes(testing: "s")
    ).id
    let prompt = ScriptedPrompt(Array(repeating: .text("passcode"), count: 3))
    let context = AuthenticationContext(reason: "", prompt: prompt, reuse: .seconds(60))
    for started: UInt64 in [100, 100, 200] {
      let caller = Caller(user: 1001, process: 4711, executable: "/bin/sh", group: 1001, started: started)
      _ = try await vault.asked(by: caller).secret(of: id, context: context)
    }
    expect(prompt.requests.count, equals: 2)
    let other = Caller(user: 1001, process: 4711, executable: "/bin/sh", group: 0, started: 200)
    _ = try await vault.asked(by: other).secret(of: id, context: context)
    expect(prompt.requests.count, equals: 3)
  }

  @Test("the peer of a socket is the process that made it, whatever that process is called")
  func peerOfSocket() throws {
    var ends: [Int32] = [-1, -1]
    try #require(unsafe socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0)
    defer { for end in ends { close(end) } }
    let peer = try Caller(peerOf: ends[0])
    let current = Caller.current
    expect([peer.user, peer.process, peer.group], equals: [geteuid(), current.process, getegid()])
    expect(peer.executable, equals: current.executable)
    let name = try String(contentsOfFile: "/proc/self/comm", encoding: .utf8)
    try rename("a) b (")
    let renamed = try Caller(peerOf: ends[1])
    try rename(name)
    #expect(renamed == peer)
    #expect(try #require(peer.started) > 0)
  }

  private func rename(_ name: String) throws {
    let file = try #require(FileHandle(forWritingAtPath: "/proc/self/comm"))
    try file.write(contentsOf: Data(name.utf8))
    try file.close()
  }

  @Test("what is not a connected Unix socket has no peer")
  func noPeer() throws {
    let network = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(network) }
    let file = unsafe open("/dev/null", O_RDONLY)
    defer { close(file) }
    for descriptor in [network, file, -1] {
      expect(.malformed) { () throws(VaultError) in _ = try Caller(peerOf: descriptor) }
    }
  }

  @Test("a caller has eight open prompts and no more; other callers are asked meanwhile")
  func manyPrompts() async throws {
    let held = try await GuardedVault()
    let (vault, guarded, prompt) = (held.vault.asked(by: peer), held.guarded, HeldPrompt())
    let context = AuthenticationContext(reason: "", prompt: prompt)
    let open = (0..<8).map { _ in Task { try await vault.secret(of: guarded, context: context).byteCount } }
    for _ in open { await prompt.whenOpen() }
    let further = ScriptedPrompt([.text("passcode")])
    await expect(
      .busy,
      awaiting: {
        _ = try await vault.secret(of: guarded, context: AuthenticationContext(reason: "", prompt: further))
      })
    expect(further.requests.count, equals: 0)
    let other = held.vault.asked(by: Caller(user: 1001, process: 4711, started: 2))
    _ = try await other.secret(of: guarded, context: AuthenticationContext(reason: "", prompt: further))
    for _ in open { prompt.answer("passcode") }
    for call in open { try await expect(call.value, equals: 6) }
    let last = ScriptedPrompt([.text("passcode")])
    _ = try await vault.secret(of: guarded, context: AuthenticationContext(reason: "", prompt: last))
    expect(last.requests.count, equals: 1)
  }

  @Test(
    "a long path of a caller is cut at a character",
    arguments: [("a", 255), ("é", 254), ("語", 255), ("𝄞", 252)])
  func long(character: String, byteCount: Int) async throws {
    let path = String(repeating: character, count: 300)
    let vault = Vault(core: try place.makeCore()).asked(by: Caller(user: 1, process: 2, executable: path))
    _ = try await vault.add(NewItem(.genericPassword, name: "n"), secret: SecretBytes(testing: "s"))
    let caller = try #require(try await vault.auditEntries().last?.caller)
    #expect(path.hasPrefix(caller.executable) && caller.executable.utf8.count == byteCount)
  }
}
