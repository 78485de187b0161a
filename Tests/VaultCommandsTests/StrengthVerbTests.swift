import Foundation
import TestSupport
import Testing

/// Verified to fail with the tool from before these tests: a passcode `1` was accepted in silence, and doctor said ok.
@Suite("Passcodes and passphrases that can be guessed", .bounded, .requirement("U13"))
struct StrengthVerbTests {
  private let good = "crane lemon ocean piano tiger wagon"

  @Test("init, passcode set, passcode change and backup accept one with a warning, and a good one without")
  func warnings() throws {
    let tool = try Tool()
    func check(_ words: [String], _ secret: String, old: String = "", key: String) throws {
      for isGuessable in [true, false] {
        let secret = isGuessable ? secret : good
        let words = words.map { $0.replacing("FILE", with: tool.home.path + "/\(isGuessable)") }
        let run = try tool.run(words + ["--json"], secrets: [3: secret, 4: isGuessable ? old : "1"])
        #expect(try run.exit == 0 && run.json[key] as? Bool == isGuessable, "\(run.errors)")
        #expect(run.errors.isEmpty)
      }
    }
    try check(["init", "--vault", "FILE.vault", "--passcode-fd", "3"], "1", key: "passcodeGuessable")
    let key = "passphraseGuessable"
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    try check(["backup", "FILE.backup", "--passphrase-fd", "3"], "correct horse", key: key)
    let set = try tool("passcode", "set", "--new-passcode-fd", "3", secrets: [3: "2"])
    #expect(set.errors.contains("warning: the passcode can be guessed, it has about 3 bits"), "\(set.errors)")
    try check(
      ["passcode", "change", "--passcode-fd", "4", "--new-passcode-fd", "3"], "1", old: "2",
      key: "passcodeGuessable")
    let backup = try tool(
      "backup", tool.home.path + "/b", "--passphrase-fd", "3", "--passcode-fd", "4",
      secrets: [3: "correct horse", 4: good])
    #expect(backup.exit == 0 && backup.errors.contains("the passphrase can be guessed, it has about 22 bits"))
  }

  @Test("doctor says whether the passcode can be guessed when it is given, and that it did not look when not")
  func doctor() throws {
    let tool = try Tool()
    try expect(tool("init", "--passcode-fd", "3", secrets: [3: "1"]).exit, equals: 0)
    #expect(try tool("vault", "doctor").text.contains("whether it can be guessed was not looked at"))
    func finding(_ passcode: String) throws -> String {
      try tool("vault", "doctor", "--passcode-fd", "3", secrets: [3: passcode]).text
    }
    #expect(try finding("1").contains("warning  passcode: the passcode can be guessed, it has about 3 bits"))
    let words = ["passcode", "change", "--passcode-fd", "3", "--new-passcode-fd", "4"]
    try expect(tool.run(words, secrets: [3: "1", 4: good]).exit, equals: 0)
    #expect(
      try finding(good).contains("ok       passcode: the passcode is hard to guess, it has about 66 bits"))
  }

  @Test("six generated words are good for an item, and as the passphrase that the guide advises")
  func generated() throws {
    let tool = try Tool()
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    let made = try tool("add", "phrase", "--generate", "6:words")
    #expect(made.errors.contains("66 bits") && !made.errors.contains("guessed"), "\(made.errors)")
    let phrase = try tool("get", "phrase").text
    let run = try tool("backup", tool.home.path + "/b", "--passphrase-fd", "3", secrets: [3: phrase])
    #expect(run.exit == 0 && run.errors.isEmpty, "\(run.errors)")
  }
}
