import Foundation
import TestSupport
import Testing

/// The built agent and logind: what locks its vault, and what does not.
@Suite("The agent and logind", .bounded, .requirement("G13"))
struct AgentLogindTests {
  /// The agent stands still where it would let the machine sleep: its vault is locked by then.
  @Test("the machine does not sleep before the keys are wiped, and the next sleep is delayed again")
  func suspend() throws {
    let (logind, home) = try started()
    #expect(try logind.delays.contains("'sleep', 'vaultd'"))
    try logind.holdSleep()
    try logind.suspend(true)
    try logind.awaitHeldSleep()
    #expect(try !home.isUnlocked)
    #expect(try logind.delays.contains("'vaultd'"))
    logind.releaseSleep()
    try waitUntil("sleep is not delayed any more") { try !logind.delays.contains("'vaultd'") }
    try home.awaitLocks(["the machine went to sleep"])
    try logind.suspend(false)
    try waitUntil("the next sleep is delayed") { try logind.delays.contains("'vaultd'") }
    expect(0, try home.tool("unlock", "--passcode-file", home.passcode))
    #expect(try home.isUnlocked)
  }

  @Test("a vault that is unlocked while the machine goes to sleep is locked at once")
  func unlockedTooLate() throws {
    let (logind, home) = try started()
    try logind.suspend(true)
    try home.awaitLocks(["the machine went to sleep"])
    expect(6, try home.tool("unlock", "--passcode-file", home.passcode), "locked again at once")
    #expect(try !home.isUnlocked)
  }

  @Test("a locked session of the user locks; one of another user, and what a stranger says, does not")
  func sessionLocked() throws {
    let (logind, home) = try started { logind in
      try logind.addSession("c1")
      try logind.addSession("x2", user: getuid() + 1)
    }
    try logind.lock("x2")
    try logind.forge("c1")
    // The agent hears this after all the rest, and it has another reason.
    try logind.suspend(true)
    try home.awaitLocks(["the machine went to sleep"])
    try logind.suspend(false)
    try waitUntil("the agent knows that it is awake") { try logind.delays.contains("'vaultd'") }
    expect(0, try home.tool("unlock", "--passcode-file", home.passcode))
    try logind.lock("c1")
    try home.awaitLocks(["the machine went to sleep", "the session of the user was locked"])
  }

  @Test("the end of the last session locks, that of another one does not")
  func sessionsEnded() throws {
    let (logind, home) = try started { logind in
      for name in ["c1", "c2"] { try logind.addSession(name) }
      try logind.addSession("x3", user: getuid() + 1)
    }
    for name in ["c1", "x3"] { try logind.removeSession(name) }
    // Heard after both.
    try logind.lock("c2")
    try home.awaitLocks(["the session of the user was locked"])
    expect(0, try home.tool("unlock", "--passcode-file", home.passcode))
    try logind.removeSession("c2")
    try home.awaitLocks(["the session of the user was locked", "the last session of the user ended"])
  }

  @Test("a logind that restarts is heard again; while it is away, the status says so and nothing is locked")
  func restart() throws {
    let (logind, home) = try started()
    try logind.end()
    try waitUntil("the agent knows that logind is gone") { try !home.hearsLogind }
    #expect(try home.tool("agent", "status").text.contains("not there: only the times lock"))
    #expect(try home.isUnlocked)
    try logind.begin()
    try waitUntil("the agent hears the new logind") { try home.hearsLogind }
    #expect(try home.isUnlocked && logind.delays.contains("'vaultd'"))
    try logind.suspend(true)
    try home.awaitLocks(["the machine went to sleep"])
  }

  @Test("a logind that begins after the agent is heard")
  func late() throws {
    let logind = try MockLogind(isRunning: false)
    let home = try unlockedHome(of: logind)
    #expect(try !home.hearsLogind)
    try logind.begin()
    try waitUntil("the agent hears logind") { try home.hearsLogind }
    try logind.suspend(true)
    try home.awaitLocks(["the machine went to sleep"])
  }

  @Test("without a bus the status says that only the times lock, and the rest works")
  func noBus() throws {
    let home = try AgentHome()
    home.tool.environment["DBUS_SYSTEM_BUS_ADDRESS"] = "unix:path=\(home.runtime)/nowhere"
    expect(0, try home.tool("agent", "start"))
    expect(0, try home.tool("unlock", "--passcode-file", home.passcode))
    #expect(try home.tool("agent", "status").text.contains("not there: only the times lock"))
    #expect(try home.isUnlocked && !home.hearsLogind)
    expect(0, try home.tool("lock"))
    try home.awaitLocks(["a command locked it"])
  }

  /// An agent that hears logind, with an unlocked vault.
  private func started(
    _ prepare: (MockLogind) throws -> Void = { _ in }
  ) throws -> (MockLogind, AgentHome) {
    let logind = try MockLogind()
    try prepare(logind)
    let home = try unlockedHome(of: logind)
    try waitUntil("the agent hears logind") { try home.hearsLogind }
    return (logind, home)
  }

  private func unlockedHome(of logind: MockLogind) throws -> AgentHome {
    let home = try AgentHome()
    let variables = home.tool.environment
    home.tool.environment.merge(try logind.variables()) { $1 }
    expect(0, try home.tool("agent", "start"))
    home.tool.environment = variables
    expect(0, try home.tool("unlock", "--passcode-file", home.passcode))
    return home
  }
}

extension AgentHome {
  private func status() throws -> [String: Any] { try tool("agent", "status", "--json").json }

  /// Whether the agent says that it hears logind.
  var hearsLogind: Bool { get throws { try status()["logind"] as? Bool == true } }

  /// Whether the vault is unlocked in the agent.
  var isUnlocked: Bool {
    get throws { try (status()["vaults"] as? [[String: Any]])?.first?["unlocked"] as? Bool == true }
  }

  /// Why the vault was locked each time, in order, as its log says it.
  func locks() throws -> [String] {
    // A socket that a service manager holds would wait for an agent.
    let entries = try #require(tool("audit", "--json", "--agent", "never").json["items"] as? [[String: Any]])
    return entries.filter { $0["operation"] as? String == "locked" }.compactMap { $0["detail"] as? String }
  }

  /// Waits until the log has as many entries of locks as these, and expects these.
  func awaitLocks(_ reasons: [String], at location: SourceLocation = #_sourceLocation) throws {
    // They follow the wiping of the keys, on another thread.
    try waitUntil("an entry that the vault was locked") { try locks().count >= reasons.count }
    let found = try locks()
    #expect(found == reasons, sourceLocation: location)
  }
}
