import CLinux
import Foundation
import PAMMessages
import Synchronization
import TestSupport
import Testing
import VaultKit
import VaultPrompts
import VaultTestKit

/// How a keeper has a login verified: by a helper that root starts, for one person. The process of root is the test itself here;
/// `Tests/Hostile` has the real one.
@Suite("A helper that root starts", .bounded, .requirement("R18"))
struct PAMStarterTests {
  @Test("the helper of root is asked for the person whom root has named, and its verdict counts")
  func verdicts() throws {
    for result in [Int32(0), 7] {
      let root = try Root { channel, request in
        let step = result == 0 ? PAMVerdict.Step.success : .authenticate
        _ = channel.send(PAMVerdict(request.nonce, step: step, result: result).bytes)
      }
      expect(root.verify()?.code, equals: result == 0 ? nil : .authenticationFailed)
      expect(root.asked, equals: ["vaultctl alice"])
    }
  }

  /// Would fail when the packet is taken for nonsense.
  @Test("where root runs too many helpers, that is said")
  func busy() throws {
    let root = try Root { channel, _ in _ = channel.send(PAMReport.busyBytes) }
    expect(root.verify()?.code, equals: .busy)
  }

  @Test("a helper that root does not start, and one that ends, verify nobody")
  func none() throws {
    expect(try Root { _, _ in }.verify()?.code, equals: .verificationUnavailable)
    let dropping = try Root(takesRequest: false) { _, _ in }
    expect(dropping.verify()?.code, equals: .verificationUnavailable)
  }

  /// Would fail when the helper is started by the keeper then.
  @Test("a process of root that has ended, and one that was never there, verify nobody and say what to do")
  func ended() throws {
    let root = try Root { _, _ in }
    root.end()
    let error = try #require(root.verify())
    expect(error.code, equals: .verificationUnavailable)
    #expect(error.message.contains("has ended") && error.hint?.contains("start the keeper again") == true)
    let never = try #require(Root.verify(with: nil))
    expect(never.code, equals: .verificationUnavailable)
    #expect(never.message.contains("root has left no process"))
  }

  @Test("a descriptor that root did not make is none of root's", arguments: ["", "x", "-1", "99999", "0"])
  func foreign(number: String) { #expect(PAMStarter(number: number) == nil) }

  // MARK: what root lets a helper be asked

  @Test("a limit has a service and a user, and its argument reads back")
  func argument() {
    for (service, user) in [("vaultctl", "alice"), ("vaultctl", "a/b"), ("v", "u")] {
      let limit = PAMLimit(service: service, user: user)
      expect(PAMLimit(argument: limit.argument), equals: limit)
    }
    for text in ["", "vaultctl", "vaultctl/", "/alice", "/"] {
      #expect(PAMLimit(argument: text) == nil, "\(text)")
    }
  }

  /// Would fail when strings are compared: Swift takes the last two for one.
  @Test("a limit allows its own service and user, byte by byte")
  func allows() {
    let limit = PAMLimit(service: "vaultctl", user: "jos\u{E9}")
    func allows(_ service: String, _ user: String) -> Bool {
      limit.allows(PAMRequest(.random(), service: service, user: user))
    }
    #expect(allows("vaultctl", "jos\u{E9}"))
    #expect(
      !allows("vaultctl", "root") && !allows("login", "jos\u{E9}") && !allows("vaultctl", "jose\u{301}"))
  }

  /// Verified to fail when the limit is not looked at.
  @Test(
    "a helper with a limit answers for that person alone", arguments: ["vaultctl", "other"], [true, false])
  func limited(service: String, isPerson: Bool) throws {
    let world = try PAMWorld()
    for name in ["vaultctl", "other"] {
      try world.service(name, "auth required pam_permit.so", "account required pam_permit.so")
    }
    let user = isPerson ? PAMWorld.user : "nobody"
    let script = """
      import os, socket, subprocess, sys
      helper, folder, limit, service, user = sys.argv[1:]
      own, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
      process = subprocess.Popen([helper, folder, limit], stdin=its, stdout=its)
      its.close()
      own.send(b'R\\x01' + bytes(16) + bytes([len(service)]) + service.encode() + user.encode())
      print(own.recv(4224)[:1].decode() or 'nothing')
      """
    let run = try Program(
      "/usr/bin/python3",
      [
        "-c", script, PAMWorld.helperPath, world.folder.path + "/pam.d",
        PAMLimit(service: "vaultctl", user: PAMWorld.user).argument, service, user,
      ]
    ).run()
    expect(run.text, equals: service == "vaultctl" && isPerson ? "V\n" : "nothing\n")
  }

  @Test(
    "arguments that are no limit start no helper",
    arguments: [["x"], ["vaultctl/"], ["vaultctl/alice", "more"]])
  func words(words: [String]) throws {
    let run = try Program(Built.path("vault-pam"), words).run()
    #expect(run.status == 2 && run.text.contains("do not start it by hand"), "\(run.text)")
  }
}

/// The process of root: it takes one request for a helper, and is that helper.
private final class Root: Sendable {
  private let own: Int32
  private let keeper: Int32
  private let seen = Mutex<[String]>([])

  /// - Parameters:
  ///   - takesRequest: Whether the helper reads what it is asked.
  ///   - answer: What the helper then does.
  init(
    takesRequest: Bool = true,
    _ answer: @escaping @Sendable (borrowing PAMChannel, PAMRequest) -> Void
  ) throws {
    var pair: [Int32] = [-1, -1]
    try #require(unsafe clinux_packet_pair(&pair) == 0)
    (own, keeper) = (pair[0], pair[1])
    let own = own
    Thread.detachNewThread { [weak self] in
      var wait = pollfd(fd: own, events: Int16(POLLIN), revents: 0)
      _ = unsafe poll(&wait, 1, -1)
      var bytes: [UInt8] = [0, 0]
      var (descriptors, count) = ([Int32](repeating: -1, count: 253), 0)
      guard unsafe clinux_receive_packet(own, &bytes, 2, &descriptors, &count) == 1, count == 1,
        bytes[0] == PAMMessages.start
      else { return }
      let channel = PAMChannel(owning: descriptors[0])
      guard takesRequest, let request = (try? channel.receive()).flatMap({ PAMRequest($0) }) else { return }
      self?.seen.withLock { $0.append("\(request.service) \(request.user)") }
      answer(channel, request)
    }
  }

  deinit {
    end()
    close(keeper)
    close(own)
  }

  func end() { shutdown(own, Int32(SHUT_RDWR)) }

  /// Whom the helper was asked for.
  var asked: [String] { seen.withLock { $0 } }

  func verify() -> VaultError? { Self.verify(with: PAMStarter(on: keeper)) }

  static func verify(with starter: PAMStarter?) -> VaultError? {
    do {
      let world = try PAMWorld()
      // Nobody reads it here: the process of root does.
      try world.service("vaultctl", "auth required pam_deny.so", "account required pam_deny.so")
      let helper = PAMPresence.Helper.ofKeeper(
        starter, at: PAMWorld.helperPath, services: world.folder.path + "/pam.d")
      let presence = PAMPresence(
        service: "vaultctl", user: "alice", helper: helper, limits: .init(by: HeldClock().now))
      let request = PromptRequest(.presence, operation: "use the key")
      try presence.verifyPresence(request, asking: ScriptedPrompt())
      return nil
    } catch { return error as? VaultError }
  }
}
