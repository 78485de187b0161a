import Foundation
import TestSupport
import Testing
import VaultKit
import VaultTestKit

/// The built `vaultctl-testing`, run as a process of its own in a home of its own. Its clocks, and those of the servers of
/// `Tests/Peers` that it asks, stand until a test advances them; it waits for other programs as long as they need.
final class Tool {
  struct Run {
    let exit: Int32
    let output: [UInt8]
    let errors: String
    var text: String { String(decoding: output, as: UTF8.self) }
    var json: [String: Any] {
      get throws { try #require(try JSONSerialization.jsonObject(with: Data(output)) as? [String: Any]) }
    }
    var error: [String: Any] {
      get throws {
        let object = try JSONSerialization.jsonObject(with: Data(errors.utf8)) as? [String: Any]
        return try #require(object?["error"] as? [String: Any])
      }
    }
  }

  /// Whether the commands of a new tool run in an agent of its own. Its clock is the first one of the tool.
  @TaskLocal static var usesAgent = false

  let home: URL
  var environment: [String: String]
  /// Stands for `$XDG_RUNTIME_DIR` of an agent. Its path is short, because that of a socket is.
  private var runtime: String?
  /// The process of that agent. A test may have changed how commands find it.
  private var agent: pid_t?

  init() throws {
    home = FileManager.default.temporaryDirectory.appendingPathComponent("vaultctl-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: home, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    environment = [
      "HOME": home.path, "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
      "VAULTCTL_TESTING_PATIENCE": "86400",
    ]
    setClocks()
    if Self.usesAgent { try startAgent() }
  }

  deinit {
    if let agent { kill(agent, SIGTERM) }
    if let runtime { try? FileManager.default.removeItem(atPath: runtime) }
    try? FileManager.default.removeItem(at: home)
  }

  private func startAgent() throws {
    let runtime = "/tmp/agent-" + UUID().uuidString.prefix(13)
    try FileManager.default.createDirectory(
      atPath: runtime, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    self.runtime = runtime
    environment["XDG_RUNTIME_DIR"] = runtime
    environment["VAULTCTL_AGENT"] = "required"
    expect(0, try self("agent", "start"))
    let status = try self("agent", "status", "--json").json
    agent = pid_t(try #require(status["pid"] as? Int))
  }

  static let path = Built.path("vaultctl-testing")
  static let shippedPath = Built.path("vaultctl")

  static let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// The wall clock. An ordinary day, at which a program does not find that a clock is wrong.
  private(set) var now = 1_900_000_000
  private var sinceBoot = 1000

  /// Lets time pass, in seconds.
  func advance(by seconds: Int) {
    now += seconds
    sinceBoot += seconds
    setClocks()
  }

  private func setClocks() {
    environment["VAULTCTL_TESTING_CLOCK"] = String(now)
    environment["VAULTCTL_TESTING_BOOT"] = String(sinceBoot)
    environment["VAULT_TEST_PEER_CLOCK"] = String(now)
  }

  /// The clock for a vault that the test opens itself.
  var clock: FixedClock {
    FixedClock(at: Instant(seconds: Int64(now)), sinceBoot: .seconds(sinceBoot))
  }

  /// Runs one command.
  ///
  /// - Parameters:
  ///   - input: Standard input; nothing to read when absent.
  ///   - secrets: What further descriptors hold.
  func callAsFunction(
    _ words: String..., input: [UInt8] = [], secrets: [Int32: String] = [:], program: String = Tool.path
  ) throws -> Run {
    try run(words, input: input, secrets: secrets, program: program)
  }

  func run(
    _ words: [String], input: [UInt8] = [], secrets: [Int32: String] = [:], program: String = Tool.path
  ) throws -> Run {
    var child = Child(program, words, environment)
    let folder = try scratchFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    try Data(input).write(to: folder.appendingPathComponent("0"))
    child.open(0, folder.path + "/0")
    child.create(1, folder.path + "/1")
    child.create(2, folder.path + "/2")
    for (descriptor, secret) in secrets {
      try Data(secret.utf8).write(to: folder.appendingPathComponent("s\(descriptor)"))
      child.open(descriptor, folder.path + "/s\(descriptor)")
    }
    let status = try child.start().wait()
    return Run(
      exit: status, output: Array(try Data(contentsOf: folder.appendingPathComponent("1"))),
      errors: String(decoding: try Data(contentsOf: folder.appendingPathComponent("2")), as: UTF8.self))
  }

  /// Starts a command on a terminal that controls it; standard output is the file `output` in the home.
  ///
  /// - Parameter typed: Whether standard input is the terminal too; else there is nothing to read.
  func start(_ words: [String], on screen: PseudoTerminal, typed: Bool = true) throws -> Child.Running {
    var child = Child(Tool.path, words, environment)
    child.leadsSession = true
    child.open(0, screen.path, flags: O_RDWR)
    if !typed { child.open(0, "/dev/null") }
    child.create(1, home.path + "/output")
    child.open(2, screen.path, flags: O_RDWR)
    return try child.start()
  }

  /// Starts a shell on a terminal that controls it and is its standard input, output and error. `$T` is this tool.
  func start(shell: String, _ words: [String], on screen: PseudoTerminal) throws -> Child.Running {
    let variables = environment.merging(["T": Tool.path, "TERM": "dumb", "PS1": "> "]) { _, new in new }
    var child = Child(shell, words, variables)
    child.leadsSession = true
    for descriptor in Int32(0)...2 { child.open(descriptor, screen.path, flags: O_RDWR) }
    return try child.start()
  }

  /// A private file with a secret in it.
  func file(_ name: String, _ content: String, mode: Int = 0o600) throws -> String {
    let url = home.appendingPathComponent(name)
    try Data(content.utf8).write(to: url)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: url.path)
    return url.path
  }

  /// A program that the tool can start.
  ///
  /// Another process makes the file: a child that another test starts meanwhile would hold one of ours open for writing,
  /// and such a file cannot be run.
  func program(_ name: String, _ script: String) throws -> String {
    let draft = try file(name + ".draft", script)
    let path = home.appendingPathComponent(name).path
    try expect(Child("/usr/bin/install", ["-m", "700", draft, path], environment).start().wait(), equals: 0)
    return path
  }

  /// Alters eight bytes in a sealed column of the vault. The tag at the end stays, by which an opening counts the rows of a
  /// small vault.
  func damage(_ column: String, of table: String, where condition: String) throws {
    let statement = """
      UPDATE \(table)
      SET \(column) = CAST(substr(\(column), 1, 24) || zeroblob(8) || substr(\(column), 33) AS BLOB)
      WHERE \(condition)
      """
    try alter(by: statement)
  }

  /// Changes the vault without its keys.
  func alter(by statement: String) throws {
    let vault = home.path + "/.local/share/vaultctl/default.vault"
    try expect(run([vault, statement], program: "/usr/bin/sqlite3").exit, equals: 0)
  }

  private func scratchFolder() throws -> URL {
    let folder = home.appendingPathComponent("run-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    return folder
  }
}

/// Expects that a command ended with this code, and that its errors have these words.
func expect(
  _ exit: Int32, _ run: Tool.Run, _ words: String = "", at location: SourceLocation = #_sourceLocation
) {
  #expect(
    run.exit == exit && (words.isEmpty || run.errors.contains(words)), "\(run.exit) \(run.errors)",
    sourceLocation: location)
}
