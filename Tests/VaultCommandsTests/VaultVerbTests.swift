import Foundation
import TestSupport
import Testing

@Suite("The vault at the command line", .bounded)
struct VaultVerbTests {
  @Test("nothing but init makes a vault: every other verb answers 14, names init and leaves no file")
  func missing() throws {
    let tool = try Tool()
    let lines = [
      ["status"], ["doctor"], ["vault", "check"], ["ls"], ["add", "x", "--generate", "8"],
      ["get", "x"], ["passcode", "set", "--new-passcode-fd", "3"], ["audit"], ["otp", "list"],
      ["code", "x"],
    ]
    for line in lines {
      let run = try tool.run(line, secrets: [3: "p"])
      #expect(run.exit == 14 && run.errors.contains("vaultctl init"), "\(line): \(run.exit) \(run.errors)")
    }
    #expect(try FileManager.default.subpathsOfDirectory(atPath: tool.home.path).isEmpty)
    try expect(tool("vault", "path").exit, equals: 0)
  }

  @Test("init never touches what is there, and keeps the key apart from the vault")
  func initialize() throws {
    let tool = try Tool()
    let made = try tool("init", "--no-passcode", "--recovery-code", "--json")
    expect(made.exit, equals: 0)
    let vault = try #require(try made.json["path"] as? String)
    let key = try #require(try made.json["deviceKey"] as? String)
    #expect(
      URL(fileURLWithPath: vault).deletingLastPathComponent()
        != URL(fileURLWithPath: key).deletingLastPathComponent())
    #expect((try made.json["recoveryCode"] as? String)?.count == 39)
    for path in [vault, key] {
      let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
      expect(mode, equals: 0o600)
    }
    let before = try Data(contentsOf: URL(fileURLWithPath: vault))
    let again = try tool("init", "--no-passcode")
    expect(again.exit, equals: 8)
    try expect(Data(contentsOf: URL(fileURLWithPath: vault)), equals: before)
    try expect(tool("vault", "path").text, equals: vault + "\n")
    try expect(tool("vault", "path", "--json").json["deviceKey"] as? String, equals: key)
  }

  @Test("a vault that is empty, truncated, altered or not a vault is damage, exit 10, and stays as it is")
  func damage() throws {
    let tool = try Tool()
    try expect(tool("init", "--no-passcode", "--vault", tool.home.path + "/v").exit, equals: 0)
    try expect(tool("add", "a", "--vault", tool.home.path + "/v", input: [1]).exit, equals: 0)
    let whole = try Data(contentsOf: tool.home.appendingPathComponent("v"))
    var flipped = whole
    flipped[whole.count / 2] ^= 1
    let cases: [(String, Data)] = [
      ("empty", Data()), ("truncated", whole.prefix(whole.count / 2)), ("text", Data("no vault".utf8)),
      ("zeroes", Data(count: 8192)), ("header", Data("SQLite format 3\0".utf8) + Data(count: 4080)),
    ]
    for (name, content) in cases {
      let path = tool.home.path + "/" + name
      try content.write(to: URL(fileURLWithPath: path))
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
      let run = try tool("get", "a", "--vault", path)
      expect(run.exit, equals: 10, "\(name): \(run.exit) \(run.errors)")
      #expect(run.errors.split(separator: "\n").count >= 2, "\(name): what to do next is missing")
      #expect(run.output.isEmpty)
      try expect(Data(contentsOf: URL(fileURLWithPath: path)), equals: content, "\(name) was changed")
    }
  }

  @Test(
    "a device key that is absent, another's, damaged or open to others is told apart from damage: exit 11")
  func deviceKey() throws {
    let tool = try Tool()
    let key = tool.home.path + "/key"
    tool.environment["VAULTCTL_DEVICE_KEY"] = key
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    try expect(tool("add", "a", input: [1]).exit, equals: 0)
    let good = try Data(contentsOf: URL(fileURLWithPath: key))
    var messages: Set<String> = []
    func check(_ change: () throws -> Void) throws {
      try change()
      let run = try tool("get", "a", "--json")
      #expect(run.exit == 11 && run.output.isEmpty, "\(run.errors)")
      messages.insert(try #require(try run.error["message"] as? String))
    }
    try check { try FileManager.default.removeItem(atPath: key) }
    #expect(!FileManager.default.fileExists(atPath: key), "no new key is made")
    try check { _ = try tool.file("key", String(repeating: "x", count: 32)) }
    try check { _ = try tool.file("key", "short") }
    try check {
      try good.write(to: URL(fileURLWithPath: key))
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key)
    }
    expect(messages.count, equals: 4, "\(messages)")
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
    try expect(tool("get", "a").output, equals: [1])
  }

  @Test("status, doctor and verify say how it is, for people and as JSON")
  func reports() throws {
    let tool = try Tool()
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    try expect(tool("add", "a", input: [1]).exit, equals: 0)
    let status = try tool("status", "--json").json
    expect(status["items"] as? Int, equals: 1)
    #expect(status["passcode"] as? Bool == false)
    #expect((status["kinds"] as? [String: Int]) == ["password": 1])
    let verify = try tool("vault", "check", "--json").json
    #expect(verify["sound"] as? Bool == true)
    expect(verify["secrets"] as? Int, equals: 1)
    let doctor = try tool("vault", "doctor", "--json")
    expect(doctor.exit, equals: 0)
    let findings = try #require(try doctor.json["items"] as? [[String: Any]])
    #expect(findings.contains { $0["check"] as? String == "passcode" && $0["state"] as? String == "warning" })
    #expect(try tool("vault", "doctor").text.contains("vaultctl passcode set"))
  }

  @Test("doctor names what keeps the vault from opening and ends with that exit code")
  func brokenDoctor() throws {
    let tool = try Tool()
    tool.environment["VAULTCTL_DEVICE_KEY"] = tool.home.path + "/key"
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    try FileManager.default.removeItem(atPath: tool.home.path + "/key")
    let run = try tool("vault", "doctor")
    #expect(run.exit == 11 && run.text.contains("problem"))
  }

  @Test("the audit names what was done, by whom and to what, and can be narrowed")
  func audit() throws {
    let tool = try Tool()
    tool.environment["VAULTCTL_TESTING_CLOCK"] = "1700000000"
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    try expect(tool("add", "a", input: [1]).exit, equals: 0)
    tool.environment["VAULTCTL_TESTING_CLOCK"] = "1700000100"
    try expect(tool("add", "b", "--audit", "all", input: [1]).exit, equals: 0)
    try expect(tool("get", "a").exit, equals: 0)
    try expect(tool("get", "b").exit, equals: 0)
    try expect(tool("rm", "b").exit, equals: 0)
    func operations(_ words: String...) throws -> [String] {
      let items = try #require(try tool.run(["audit", "--json"] + words).json["items"] as? [[String: Any]])
      return items.compactMap { $0["operation"] as? String }
    }
    try expect(operations(), equals: ["vaultCreated", "itemAdded", "itemAdded", "itemRead", "itemTrashed"])
    try expect(operations("--since", "1700000100"), equals: ["itemAdded", "itemRead", "itemTrashed"])
    try expect(
      operations("--since", "2023-11-14T22:15:00Z"), equals: ["itemAdded", "itemRead", "itemTrashed"])
    try expect(operations("--item", "a"), equals: ["itemAdded"])
    try expect(operations("--item", "b"), equals: ["itemAdded", "itemRead", "itemTrashed"])
    try expect(tool("audit", "--item", "never").exit, equals: 1)
    #expect(try tool("audit", "--check", "--json").json["auditChainChecked"] as? Bool == true)
  }
}
