import Foundation
import TestSupport
import Testing

/// The files of a vault while an agent has it unlocked, by the built programs.
@Suite("The files of a vault under an agent", .bounded, .requirement("G17"))
struct AgentFileTests {
  @Test("an older state that is copied over the vault is what the next command finds, whole")
  func copiedOver() throws {
    let home = try AgentHome()
    let vault = home.vault
    let old = try Data(contentsOf: URL(fileURLWithPath: vault))
    try home.unlock()
    let long = Array(String(repeating: "long ", count: 4000).utf8)
    for number in 0..<5 { expect(0, try home.tool("add", "late \(number)", input: long)) }
    try Self.writeOver(vault, old)
    let locked = try home.tool("get", "mail", "--no-input", "--agent", "required")
    expect(6, locked)
    #expect(locked.errors.contains("the vault file is a copy or an older state"), "\(locked.errors)")
    expect(0, try home.tool("unlock", "--passcode-file", home.passcode))
    try expect(home.tool("ls", "--format", "name", "--agent", "required").text, equals: "mail\n")
    expect(0, try home.tool("add", "after", input: long))
    expect(0, try home.tool("vault", "check"))
    expect(0, try home.tool("agent", "stop"))
    expect(0, try home.tool("vault", "check", "--agent", "never", "--passcode-file", home.passcode))
  }

  @Test("a vault that another file replaces is not mixed with the changes of the old one")
  func replaced() throws {
    let home = try AgentHome()
    let old = try Data(contentsOf: URL(fileURLWithPath: home.vault))
    try home.unlock()
    let long = Array(String(repeating: "long ", count: 4000).utf8)
    expect(0, try home.tool("add", "late", input: long))
    try Data(old).write(to: URL(fileURLWithPath: home.vault + ".new"))
    unsafe chmod(home.vault + ".new", 0o600)
    _ = unsafe rename(home.vault + ".new", home.vault)
    // A command without the agent comes first: it finds the files of the agent beside the new vault.
    expect(0, try home.tool("vault", "check", "--agent", "never", "--passcode-file", home.passcode))
    expect(6, try home.tool("get", "mail", "--no-input", "--agent", "required"))
    expect(0, try home.tool("unlock", "--passcode-file", home.passcode))
    try expect(home.tool("ls", "--format", "name", "--agent", "required").text, equals: "mail\n")
    expect(0, try home.tool("vault", "check"))
  }

  @Test("after 'lock' the agent has no file of the vault open, and a backup can take its place")
  func restored() throws {
    let home = try AgentHome()
    let phrase = try home.tool.file("phrase", "six random words of a long list")
    let backup = home.tool.home.path + "/backup"
    expect(
      0,
      try home.tool("backup", backup, "--passphrase-file", phrase, "--passcode-file", home.passcode))
    try home.unlock()
    let words = [
      "restore", backup, "--replace", "--passphrase-file", phrase, "--passcode-file", home.passcode,
    ]
    let inUse = try home.tool.run(words)
    expect(13, inUse)
    #expect(inUse.errors.contains("lock the vault"), "\(inUse.errors)")
    expect(0, try home.tool("lock"))
    let names = try FileManager.default.contentsOfDirectory(
      atPath: (home.vault as NSString).deletingLastPathComponent)
    expect(names.filter { $0.hasSuffix("-wal") || $0.hasSuffix("-shm") }, equals: [])
    expect(0, try home.tool.run(words))
  }

  @Test(
    "a passcode that another process removed locks the vault, says so once, and then the vault opens without")
  func removedElsewhere() throws {
    let home = try AgentHome()
    try home.unlock()
    expect(0, try home.tool("passcode", "remove", "--passcode-file", home.passcode))
    let first = try home.tool("get", "mail", "--no-input", "--agent", "required")
    expect(3, first)
    #expect(first.errors.contains("another process removed the vault's passcode"), "\(first.errors)")
    try expect(home.tool("get", "mail", "--agent", "required").text, equals: "tok-1")
  }

  @Test("a passcode that another process changed locks the vault, and the new one unlocks it")
  func changedElsewhere() throws {
    let home = try AgentHome()
    try home.unlock()
    let words = ["passcode", "change", "--passcode-file", home.passcode, "--new-passcode-file"]
    expect(0, try home.tool.run(words + [home.wrong]))
    expect(6, try home.tool("get", "mail", "--no-input", "--agent", "required"))
    expect(3, try home.tool("unlock", "--passcode-file", home.passcode))
    expect(0, try home.tool("unlock", "--passcode-file", home.wrong))
    try expect(home.tool("get", "mail", "--no-input", "--agent", "required").text, equals: "tok-1")
  }

  @Test("a vault without a passcode is open only while a command uses it")
  func withoutPasscode() throws {
    let home = try AgentHome()
    expect(0, try home.tool("passcode", "remove", "--passcode-file", home.passcode))
    expect(0, try home.tool("agent", "start"))
    try expect(home.tool("get", "mail", "--agent", "required").text, equals: "tok-1")
    let status = try home.tool("agent", "status", "--json").json
    try expect(#require(status["vaults"] as? [Any]).count, equals: 0)
  }

  @Test("a deleted vault is gone for the agent too, and a deleted device key once the vault is locked")
  func deleted() throws {
    let home = try AgentHome()
    try home.unlock()
    let status = try home.tool("status", "--json").json
    let key = try #require(status["deviceKey"] as? String)
    try FileManager.default.removeItem(atPath: key)
    expect(0, try home.tool("get", "mail", "--no-input"))
    expect(0, try home.tool("lock"))
    expect(11, try home.tool("get", "mail", "--passcode-file", home.passcode))
    try FileManager.default.removeItem(atPath: home.vault)
    expect(14, try home.tool("ls"))
    expect(0, try home.tool("agent", "status"))
  }

  /// As `cp` does it, which keeps the file.
  private static func writeOver(_ path: String, _ bytes: Data) throws {
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try file.truncate(atOffset: 0)
    try file.write(contentsOf: bytes)
    try file.close()
  }
}

extension AgentHome {
  var vault: String { tool.home.path + "/.local/share/vaultctl/default.vault" }

  /// Starts the agent, and unlocks the vault in it.
  func unlock() throws {
    expect(0, try tool("agent", "start"))
    expect(0, try tool("unlock", "--passcode-file", passcode))
  }
}
