import Foundation
import TestSupport
import Testing
import VaultCommands
import VaultDoctor

/// Verified to fail when an encrypted device is taken for an open one, when the mode of the device key is ignored, and
/// when there are colors in a pipe or despite NO_COLOR.
@Suite("vaultctl vault doctor, and colours", .bounded)
struct DoctorTests {
  private func newTool() throws -> Tool {
    let tool = try Tool()
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    return tool
  }

  private func findings(_ tool: Tool) throws -> [String: (state: String, hint: String?)] {
    let items = try #require(try tool("vault", "doctor", "--json").json["items"] as? [[String: Any]])
    return Dictionary(
      items.map { ($0["check"] as? String ?? "", ($0["state"] as? String ?? "", $0["hint"] as? String)) }
    ) { $1 }
  }

  @Test("looks at everything it promises, and what is not well has a way to mend it")
  func complete() throws {
    let tool = try newTool()
    let found = try findings(tool)
    for check in [
      "memory", "coreDumps", "swap", "clock", "libraries", "pam", "pamHelper", "vault", "passcode",
      "recoveryCode",
      "protector",
      "deviceKey", "permissions", "fileSystem", "contents",
    ] { #expect(found[check] != nil, "\(check) is missing") }
    for (check, finding) in found where finding.state != "ok" { #expect(finding.hint != nil, "\(check)") }
    let run = try tool("vault", "doctor", "--json")
    let states = found.values.map(\.state)
    #expect(try run.exit == 0 && run.json["warnings"] as? Int == states.count { $0 == "warning" })
    #expect(try tool("vault", "doctor").text.contains("SQLite 3."))
  }

  @Test("it names the PAM service of this tool")
  func service() throws {
    #expect(try Tool()("doctor").text.contains("/etc/pam.d/vaultctl"))
  }

  @Test("without a vault the machine is still looked at, and the exit code says what is wrong")
  func noVault() throws {
    let run = try Tool()("doctor", "--json")
    #expect(try run.exit == 14 && run.json["problems"] as? Int == 1)
    #expect((try run.json["items"] as? [[String: Any]])?.count ?? 0 > 5)
  }

  /// Verified to fail on commit c41b4145, which looks only at what the witness says.
  @Test(
    "what is in the place of the witness and is no file is named, and the way out works",
    arguments: [
      "mkdir", "mkfifo", "ln -s /dev/null", "ln -s /nonexistent", "chmod", "touch ~/f && ln ~/f",
    ])
  func witness(make: String) throws {
    let tool = try newTool()
    let key = try #require(try tool("vault", "path", "--json").json["deviceKey"] as? String)
    try expect(findings(tool)["witnessFile"] == nil, equals: true)
    let command =
      make == "chmod" ? "chmod 666 '\(key).seen'" : "rm '\(key).seen' && \(make) '\(key).seen'"
    try expect(tool.run(["-c", command], program: "/bin/sh").exit, equals: 0)
    try expect(findings(tool)["witnessFile"]?.state, equals: "warning")
    #expect(
      try tool("vault", "doctor").text.contains("\(key).seen, which remembers the last commit of the vault, ")
    )
    try expect(tool.run(["-c", "rm -r '\(key).seen'"], program: "/bin/sh").exit, equals: 0)
    try expect(tool("add", "a", input: [1]).exit, equals: 0)
    try expect(findings(tool)["witnessFile"] == nil, equals: true)
    #expect(FileManager.default.fileExists(atPath: key + ".seen"))
  }

  /// Verified to fail on commit c41b4145, which says nothing of it.
  @Test("a file that a killed backup left is a warning, and one that is being made is not")
  func unfinished() throws {
    let tool = try newTool()
    let folder = tool.home.path + "/.local/share/vaultctl"
    for name in [".b.vault.new", "b.vault.lock"] {
      try Data([7]).write(to: URL(fileURLWithPath: folder + "/" + name))
    }
    let finding = try #require(try findings(tool)["unfinished"])
    #expect(finding.state == "warning" && finding.hint?.contains("b.vault") == true)
    let held = try FileHandle(forUpdating: URL(fileURLWithPath: folder + "/b.vault.lock"))
    try #require(flock(held.fileDescriptor, LOCK_EX | LOCK_NB) == 0)
    #expect(try findings(tool)["unfinished"] == nil)
    try held.close()
  }

  @Test("modes and folders that are open to others are named with the command that mends them")
  func permissions() throws {
    let tool = try newTool()
    try expect(findings(tool)["permissions"]?.state, equals: "ok")
    let key = try #require(try tool("vault", "path", "--json").json["deviceKey"] as? String)
    let vault = try #require(try tool("vault", "path", "--json").json["path"] as? String)
    // A vault file with such a mode is refused when it is opened, so the key stands for both here.
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: key)
    let own = [tool.home.path]
    let hint = try #require(PlaceFindings.permissions(vault: vault, key: key, own: own).hint)
    expect(hint, equals: "chmod 600 '\(key)'")
    try expect(tool.run(["-c", hint], program: "/bin/sh").exit, equals: 0)
    try expect(findings(tool)["permissions"]?.state, equals: "ok")
    let folder = (vault as NSString).deletingLastPathComponent
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder)
    try expect(findings(tool)["permissions"]?.hint, equals: "chmod 700 '\(folder)'")
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder)
    let found = PlaceFindings.permissions(vault: vault, key: try tool.file("key", "k", mode: 0o644), own: own)
    #expect(found.state == .warning && found.hint?.hasPrefix("chmod 600 '") == true)
    expect(PlaceFindings.permissions(vault: vault, key: key).state, equals: .ok)
  }

  @Test("swap on an open disk is a warning; none, compressed memory and encrypted devices are not")
  func swap() {
    let titles = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
    expect(MachineFindings.swap(titles) { _ in false }.state, equals: .ok)
    expect(MachineFindings.swap(titles + "/dev/zram0 partition 1 0 -2\n") { _ in false }.state, equals: .ok)
    expect(
      MachineFindings.swap(titles + "/dev/dm-0 partition 1 0 -2\n") { $0 == "/dev/dm-0" }.state, equals: .ok)
    let open = MachineFindings.swap(
      titles + "/dev/dm-0 partition 1 0 -2\n/swapfile file 1 0 -3\n"
    ) { $0 == "/dev/dm-0" }
    #expect(open.state == .warning && open.hint?.contains("swapoff /swapfile") == true)
  }

  @Test("memory and overlay file systems, and a PAM file that others can change, are warnings")
  func places() throws {
    expect(PlaceFindings.fileSystem(ofType: 0xEF53).state, equals: .ok)
    for type in [0x0102_1994, 0x794C_7630, 0x4D44] as [Int64] {
      let found = PlaceFindings.fileSystem(ofType: type)
      #expect(found.state == .warning && found.hint != nil)
    }
    let tool = try Tool()
    expect(MachineFindings.pam("/nonexistent").state, equals: .ok)
    let file = try tool.file("vaultctl", "auth required pam_permit.so\n", mode: 0o666)
    expect(MachineFindings.pam(file).state, equals: .warning)
    expect(MachineFindings.pam("/usr").state, equals: .warning)
  }

  @Test("a clock that was set back, or stands before the program was made, is a warning")
  func clock() throws {
    let tool = try Tool()
    tool.environment["VAULTCTL_TESTING_CLOCK"] = "1900000000"
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    #expect(try findings(tool)["clock"]?.state == "ok" && findings(tool)["clockSetBack"] == nil)
    tool.environment["VAULTCTL_TESTING_CLOCK"] = "1899990000"
    try expect(findings(tool)["clockSetBack"]?.state, equals: "warning")
    tool.environment["VAULTCTL_TESTING_CLOCK"] = "1000000000"
    try expect(findings(tool)["clock"]?.state, equals: "warning")
  }

  @Test("colours are on terminals that know them, and nowhere else")
  func colours() throws {
    let tool = try newTool()
    func screen(_ variables: [String: String]) throws -> String {
      let screen = try PseudoTerminal()
      var child = Child(Tool.path, ["doctor"], tool.environment.merging(variables) { $1 })
      child.open(1, screen.path, flags: O_RDWR)
      child.open(2, screen.path, flags: O_RDWR)
      try expect(child.start().wait(), equals: 0)
      return screen.drain()
    }
    #expect(try screen(["TERM": "xterm"]).contains("\u{1B}[32mok\u{1B}[0m"))
    for variables in [["TERM": "xterm", "NO_COLOR": "1"], ["TERM": "dumb"], [:]] {
      let shown = try screen(variables)
      #expect(shown.contains("memory") && !shown.contains("\u{1B}"), "\(variables)")
    }
    tool.environment["TERM"] = "xterm"
    #expect(!(try tool("vault", "doctor").text.contains("\u{1B}")))
    #expect(!(try tool("get", "x").errors.contains("\u{1B}")))
  }
}
