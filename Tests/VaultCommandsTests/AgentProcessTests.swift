import CLinux
import Foundation
import TestSupport
import Testing

/// The agent as a process of a service manager: signals, a socket that it inherits, readiness, and the units.
@Suite("The agent as a process", .bounded, .requirement("G14"))
struct AgentProcessTests {
  @Test(
    "a signal locks, ends the agent in order and removes its socket", arguments: [SIGTERM, SIGINT, SIGHUP])
  func signals(number: Int32) throws {
    let home = try AgentHome()
    let agent = try Program(Built.path("vaultd-testing"), environment: home.tool.environment)
      .start(errors: .inherited)
    try waitUntil("an agent") { try home.tool("agent", "status").exit == 0 }
    expect(0, try home.tool("unlock", "--passcode-file", home.passcode))
    agent.kill(number)
    try expect(agent.wait(), equals: 0)
    try expect(home.locks(), equals: ["the agent ended"])
    expect(1, try home.tool("agent", "status"))
    #expect(!FileManager.default.fileExists(atPath: home.runtime + "/vaultctl/agent"))
  }

  @Test(
    "a command that connects before the agent runs is served by it, which says when it is ready and when it ends"
  )
  func activation() throws {
    let home = try AgentHome()
    let manager = try ServiceManager(below: home.runtime)
    let answer = try PipeEnds()
    let command = try Program(Tool.path, ["agent", "status", "--json"], environment: home.tool.environment)
      .start(output: .writing(answer), errors: .inherited)
    let agent = try manager.start(home.tool.environment)
    expect(manager.message(), equals: "READY=1\nSTATUS=listening\n")
    let status = String(decoding: answer.readAll(), as: UTF8.self)
    try expect(command.wait(), equals: 0)
    #expect(status.contains("\"pid\":\(agent.pid),"), "\(status)")
    expect(0, try home.tool("unlock", "--passcode-file", home.passcode))
    agent.kill(SIGTERM)
    expect(manager.message(), equals: "STOPPING=1\n")
    try expect(agent.wait(), equals: 0)
    try expect(home.locks(), equals: ["the agent ended"])
    #expect(FileManager.default.fileExists(atPath: manager.path), "the socket belongs to the manager")
    let next = try manager.start(home.tool.environment)
    expect(0, try home.tool("agent", "status"))
    #expect(try !home.isUnlocked && next.isRunning)
  }

  /// Would fail at b471ba6f: the first agent removed the socket of the second one.
  @Test("an agent that ends leaves the socket of another one, which began after the directory was removed")
  func otherSocket() throws {
    let home = try AgentHome()
    let first = try Program(Built.path("vaultd-testing"), environment: home.tool.environment)
      .start(errors: .inherited)
    try waitUntil("an agent") { try home.tool("agent", "status").exit == 0 }
    try FileManager.default.removeItem(atPath: home.runtime + "/vaultctl")
    expect(0, try home.tool("agent", "start"))
    first.kill(SIGTERM)
    try expect(first.wait(), equals: 0)
    expect(0, try home.tool("agent", "status"))
  }

  @Test("a list of processes has the agent by its name")
  func name() throws {
    let home = try AgentHome()
    expect(0, try home.tool("agent", "start"))
    let pid = try #require(home.tool("agent", "status", "--json").json["pid"] as? Int)
    try expect(String(contentsOfFile: "/proc/\(pid)/comm", encoding: .utf8), equals: "vaultd\n")
  }

  @Test("--help and the manual page have the same options, and other arguments are wrong usage: 2")
  func help() throws {
    let run = try Program(Built.path("vaultd-testing"), ["--help"], environment: [:]).run()
    #expect(run.status == 0 && run.text.hasPrefix("usage: vaultd "), "\(run)")
    let page = try String(
      contentsOf: Tool.repository.appending(path: "docs/man/vaultd.1"), encoding: .utf8)
    let explained = page.split(separator: "\n").filter { $0.hasPrefix(".It Fl ") }
      .compactMap { line in line.split(separator: " ").last { $0.hasPrefix("-") }.map { "-\($0)" } }
    expect(explained, equals: ["--ask", "--terminal", "--keeper", "--help"])
    for option in explained { #expect(run.text.contains(option)) }
    for word in ["client", "unlocker", "terminal", "pinentry"] {
      #expect(page.contains(".It Cm \(word)\n") && run.text.contains(word), "\(word)")
    }
    let wrong = try Program(Built.path("vaultd-testing"), ["--help", "me"], environment: [:]).run()
    expect(wrong.status, equals: 2)
  }

  @Test("systemd finds nothing wrong with the units, and they name the socket at which commands look")
  func units() throws {
    let tool = try Tool()
    for name in ["vaultd.service", "vaultd.socket"] {
      let unit = try String(
        contentsOf: Tool.repository.appending(path: "docs/systemd/\(name)"), encoding: .utf8)
      // A unit whose program is not there is wrong.
      let here = unit.replacing("ExecStart=/usr/local/bin/vaultd\n", with: "ExecStart=/bin/true\n")
      #expect((here == unit) == (name == "vaultd.socket"))
      try Data(here.utf8).write(to: URL(fileURLWithPath: tool.home.path + "/" + name))
    }
    let units = ["vaultd.service", "vaultd.socket"].map { tool.home.path + "/" + $0 }
    let variables = [
      "HOME": tool.home.path, "XDG_RUNTIME_DIR": tool.home.path, "PATH": "/usr/bin:/bin", "LC_ALL": "C",
    ]
    let analyzer = try Shell.need("systemd-analyze")
    let words = ["verify", "--user", "--man=no"] + units
    let verified = try Program(analyzer, words, environment: variables).run()
    #expect(verified.status == 0 && verified.text.isEmpty, "\(verified.status) \(verified.text)")
    let socket = try String(contentsOfFile: units[1], encoding: .utf8)
    #expect(socket.contains("\nListenSequentialPacket=%t/vaultctl/agent\n"))
  }
}

/// What a service manager does for the agent: it listens, passes the socket on, and is told.
private final class ServiceManager {
  /// The path of the socket at which commands look for an agent.
  let path: String
  private let listening: Int32
  private let notified: Int32
  private let notifiedPath: String

  init(below runtime: String) throws {
    try FileManager.default.createDirectory(
      atPath: runtime + "/vaultctl", withIntermediateDirectories: false,
      attributes: [.posixPermissions: 0o700])
    (path, notifiedPath) = (runtime + "/vaultctl/agent", runtime + "/notify")
    listening = unsafe clinux_listen_packets(path)
    notified = Self.datagrams(at: notifiedPath)
    try #require(listening >= 0 && notified >= 0)
  }

  deinit {
    close(listening)
    close(notified)
  }

  /// Starts the agent with the socket (sd_listen_fds(3)).
  func start(_ environment: [String: String]) throws -> Child.Running {
    let variables = environment.merging(["LISTEN_FDS": "1", "NOTIFY_SOCKET": notifiedPath]) { $1 }
    let script = "export LISTEN_PID=$$; exec \"$0\""
    var child = Child("/bin/sh", ["-c", script, Built.path("vaultd-testing")], variables)
    child.copy(listening, to: 3)
    return try child.start()
  }

  /// What the agent says next (sd_notify(3)).
  func message() -> String {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = unsafe recv(notified, &bytes, bytes.count, 0)
    return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
  }

  private static func datagrams(at path: String) -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: Array(path.utf8)) }
    let result = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    return result == 0 ? descriptor : -1
  }
}
