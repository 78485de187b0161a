import AgentMessages
import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultAgent
import VaultCommands
import VaultKit
import VaultTestKit

/// The grants that the agent keeps: for which program, until when.
@Suite("Grants in the agent", .bounded, .requirement("G22"))
struct ServedGrantsTests {
  /// Verified to fail when a grant is bound to the number of the process alone.
  @Test(
    "a grant is for one process of one user with one start and one program, and for one operation on one item"
  )
  func bound() throws {
    let rig = try GrantRig()
    let grant = try rig.keep(.time(seconds: 60))
    let own = rig.program.identity
    #expect(rig.found(for: own) === grant)
    let others = [
      MeasuredProgram.Identity(
        user: own.user, process: own.process, started: own.started + 1, executable: own.executable),
      MeasuredProgram.Identity(
        user: own.user, process: own.process + 1, started: own.started, executable: own.executable),
      MeasuredProgram.Identity(
        user: own.user + 1, process: own.process, started: own.started, executable: own.executable),
      MeasuredProgram.Identity(
        user: own.user, process: own.process, started: own.started, executable: "/usr/bin/other"),
    ]
    for other in others { #expect(rig.found(for: other) == nil, "\(other)") }
    #expect(rig.grants.grant(in: rig.file, for: rig.item, .use, to: own) == nil)
    #expect(rig.grants.grant(in: rig.file, for: ItemID.zero, .read, to: own) == nil)
    let elsewhere = FileIdentity(device: rig.file.device, inode: rig.file.inode + 1)
    #expect(rig.grants.grant(in: elsewhere, for: rig.item, .read, to: own) == nil)
  }

  @Test("it ends at its time by the clock since boot, and not before")
  func time() throws {
    let rig = try GrantRig()
    let grant = try rig.keep(.time(seconds: 60))
    rig.clock.advance(by: .milliseconds(59_999))
    #expect(rig.found() === grant && rig.grants.use(grant))
    rig.clock.advance(by: .milliseconds(1))
    #expect(rig.found() == nil && !rig.grants.use(grant))
    #expect(rig.grants.endOver() == nil && rig.grants.all().isEmpty)
  }

  @Test(
    "of so many uses the first is the one that was asked about; the last one ends it, also where two look at the same time"
  )
  func uses() throws {
    let rig = try GrantRig()
    let grant = try rig.keep(.uses(3))
    expect(rig.grants.all().map(\.usesLeft), equals: [2])
    #expect(rig.grants.use(grant) && rig.grants.use(grant) && !rig.grants.use(grant))
    #expect(rig.found() == nil)
    for answer in [GrantAnswer.no, .once] {
      _ = try rig.keep(answer)
      #expect(rig.found() == nil)
    }
  }

  /// Verified to fail when a lock ends no grants.
  @Test("the lock of the vault ends it, and what a person answers after the lock is not kept")
  func lock() throws {
    let rig = try GrantRig()
    let grant = try rig.keep(.time(seconds: 60))
    rig.agent.service.vaults.lock(rig.file, because: .command)
    #expect(rig.grants.all().isEmpty && !rig.grants.use(grant) && !rig.core.isUnlocked)
    rig.keep(grant, .time(seconds: 60))
    #expect(rig.grants.all().isEmpty)
  }

  @Test("one of them can be revoked, and all; a second answer replaces the first")
  func revoke() throws {
    let rig = try GrantRig()
    _ = try rig.keep(.uses(3))
    let second = try rig.keep(.uses(5))
    expect(rig.grants.all().map(\.usesLeft), equals: [4])
    let number = try #require(rig.grants.all().first?.number)
    #expect(rig.grants.revoke(number + 1) == 0 && rig.found() === second)
    #expect(rig.grants.revoke(number) == 1 && rig.found() == nil)
    _ = try rig.keep(.uses(3))
    #expect(rig.grants.revoke(nil) == 1 && rig.grants.all().isEmpty)
  }

  @Test("of more than a thousand, the oldest ends")
  func many() throws {
    let rig = try GrantRig()
    let grant = try rig.standing()
    for number in 0...ServedGrants.most {
      let file = FileIdentity(device: 1, inode: UInt64(number))
      rig.grants.keep(
        grant, as: .uses(2), in: file, at: "/v", named: "near", to: rig.program, of: rig.core)
    }
    #expect(rig.grants.all().count == ServedGrants.most && rig.grants.all().first?.number == 2)
  }

  @Test("a program that has ended has none any more")
  func gone() throws {
    let rig = try GrantRig()
    var child = Child(
      "/bin/sh", ["-c", "python3 -c '\(GrantRig.connecting)' \"$1\" & wait", "sh", try rig.socket()],
      ["PATH": "/usr/bin:/bin"])
    child.open(0, "/dev/null")
    let running = try child.start()
    let connection = try rig.accept()
    let caller = try Caller(peerOf: connection)
    let program = try #require(MeasuredProgram(starting: caller, over: connection))
    expect(program.identity.process, equals: running.pid)
    #expect(program.isOfSession && MeasuredProgram.isThere(program.identity))
    // As one that has got the number of the command later.
    let later = Caller(user: caller.user, process: caller.process, started: caller.started.map { $0 + 1 })
    #expect(MeasuredProgram(starting: later, over: connection) == nil)
    let grant = try rig.standing()
    rig.grants.keep(grant, as: .uses(9), in: rig.file, at: "/v", named: "near", to: program, of: rig.core)
    expect(rig.grants.all().count, equals: 1)
    // The command ends before its parent: what has its connection is not it.
    kill(pid_t(caller.process), SIGKILL)
    try waitUntil("the end of the command") { hasEnded(pid_t(caller.process)) }
    #expect(MeasuredProgram(starting: caller, over: connection) == nil)
    running.end()
    rig.clock.advance(by: .seconds(2))
    #expect(!MeasuredProgram.isThere(program.identity) && rig.grants.all().isEmpty)
    close(connection)
  }

  @Test(
    "the unit is what no program of the user chooses, and the one below the user's manager is its own word")
  func units() {
    for (groups, kernels, own) in [
      ("0::/user.slice/user-1000.slice/session-3.scope\n", "session-3.scope", nil),
      ("0::/system.slice/cron.service\n", "cron.service", nil),
      (
        "0::/user.slice/user-1000.slice/user@1000.service/app.slice/app-evil.service\n", "user@1000.service",
        "app-evil.service"
      ),
      (
        "0::/user.slice/user-1000.slice/user@1000.service/init.scope/session-3.scope\n", "user@1000.service",
        "session-3.scope"
      ),
      ("12:cpu:/x.service\n1:name=systemd:/system.slice/ssh.service\n0::/\n", "ssh.service", nil),
      ("0::/\n", nil, nil), ("0::/docker/1234\n", nil, nil), ("", nil, nil), ("nonsense", nil, nil),
    ] as [(String, String?, String?)] {
      let units = MeasuredProgram.units(inGroups: groups)
      #expect(units.kernels == kernels && units.own == own, "\(groups)")
    }
  }
}

/// A vault with the item "near", which asks for presence, a program that has connected, and the grants of an agent.
final class GrantRig {
  let agent: AgentRig
  let clock: FixedClock
  let core: VaultCore
  let item: ItemID
  let file: FileIdentity
  let program: MeasuredProgram
  private let ends: [Int32]
  private let folder: ShortFolder
  private let listening: Int32

  /// Connects to the path that is its argument, and waits.
  static let connecting =
    "import socket,sys,time; s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); s.connect(sys.argv[1]); s.recv(1)"

  init() throws {
    agent = try AgentRig()
    (clock, core) = (agent.clock, agent.core)
    try core.unlock(with: Passcode(testing: "1234"))
    let access = try AccessControl(.userPresence)
    item = try core.add(
      NewItem(.genericPassword, name: "near", access: access), secret: SecretBytes(testing: "near")
    ).id
    file = try #require(FileIdentity(of: agent.place.path))
    var ends: [Int32] = [-1, -1]
    try #require(unsafe socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0)
    self.ends = ends
    program = try #require(MeasuredProgram(starting: Caller(peerOf: ends[0]), over: ends[0]))
    let (core, path) = (core, agent.place.path)
    _ = try agent.service.vaults.vault(file, at: path, deviceKey: nil) { core }
    folder = try ShortFolder()
    listening = Glibc.socket(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0)
  }

  deinit { for end in ends + [listening] { close(end) } }

  var grants: ServedGrants { agent.service.vaults.grants }

  /// What a person has allowed: the verification alone.
  func standing() throws -> StandingGrant {
    let shelf = GrantShelf()
    var context = AuthenticationContext(
      reason: "", prompt: GrantingPrompt(passcode: "1234", answering: [.uses(2)]))
    context.grants = shelf
    _ = try core.secret(of: item, context: context)
    return try #require(shelf.grants.first)
  }

  func keep(_ answer: GrantAnswer) throws -> StandingGrant {
    let grant = try standing()
    keep(grant, answer)
    return grant
  }

  func keep(_ grant: StandingGrant, _ answer: GrantAnswer) {
    grants.keep(grant, as: answer, in: file, at: "/v", named: "near", to: program, of: core)
  }

  func found(for identity: MeasuredProgram.Identity? = nil) -> StandingGrant? {
    grants.grant(in: file, for: item, .read, to: identity ?? program.identity)
  }

  /// The path of a socket that listens.
  func socket() throws -> String {
    let path = folder.path + "/s"
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
    let isBound = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(listening, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(isBound == 0 && listen(listening, 8) == 0)
    return path
  }

  func accept() throws -> Int32 {
    var waited = pollfd(fd: listening, events: Int16(POLLIN), revents: 0)
    try waitUntil("a connection") { unsafe poll(&waited, 1, 0) > 0 }
    return Glibc.accept(listening, nil, nil)
  }
}
