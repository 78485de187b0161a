import Foundation
import TestSupport
import Testing

@Suite("Packages that are missing", .bounded)
struct InstallTests {
  private static let script = "scripts/install-deps"
  /// As in the table of the script.
  private static let purpose = "computes the same one-time codes independently"

  /// Verified to fail when `--check` installs, when it ends with 0, and when each package is asked about by a process of
  /// its own.
  @Test(
    "--check names what is missing in the chosen groups and its purpose, in one question, and installs nothing",
    arguments: [
      (["--check"], true), (["--check", "--quickstart"], true), (["--quickstart", "--check"], true),
      (["--check", "--bench"], true), (["--check", "--build-only"], false),
    ])
  func check(arguments: [String], isMissing: Bool) throws {
    let machine = try StandIns(missing: "oathtool")
    defer { machine.remove() }
    let run = try machine.run(Self.script, arguments)
    expect(run.status, equals: isMissing ? 1 : 0, "\(run.text)")
    expect(run.text.contains("oathtool"), equals: isMissing, "\(run.text)")
    expect(machine.started(), equals: ["dpkg-query"] + (isMissing ? [] : ["swift --version"]))
  }

  /// Verified to fail when the purpose is not printed.
  @Test("the purpose of a missing package is beside its name, and nothing else is named")
  func purpose() throws {
    let machine = try StandIns(missing: "oathtool")
    defer { machine.remove() }
    let lines = try machine.run(Self.script, ["--check"]).text.split(separator: "\n")
    expect(lines.count, equals: 2)
    #expect(
      lines.last?.contains("oathtool") == true && lines.last?.contains(Self.purpose) == true, "\(lines)")
  }

  /// Verified to fail when a script does not ask. `swift` builds nothing here and fails.
  @Test(
    "a script that builds or tests names a missing package and ends before it builds anything",
    arguments: [
      ("scripts/test --no-install", "zsh"), ("scripts/test --requirements --no-install", "zsh"),
      ("scripts/test --no-install --sanitize address", "zsh"),
      ("scripts/test --filter HOTP --no-install", "zsh"),
      ("scripts/steady", "zsh"), ("scripts/torture", "zsh"), ("scripts/torture kills", "zsh"),
      ("Tests/Sanitizers/run address", "zsh"), ("scripts/quickstart --no-install", "oathtool"),
      ("scripts/build-tests", "libargon2-dev"), ("scripts/build-release", "libargon2-dev"),
      ("scripts/consumers", "libargon2-dev"), ("scripts/docs", "libargon2-dev"),
      ("scripts/format", "libargon2-dev"), ("scripts/generate-man", "libargon2-dev"),
      ("scripts/bench --no-install", "libargon2-dev"),
    ])
  func beforeTheBuild(command: String, package: String) throws {
    let machine = try StandIns(missing: package)
    defer { machine.remove() }
    let words = command.split(separator: " ").map(String.init)
    let run = try machine.run(words[0], Array(words.dropFirst()))
    expect(run.status, equals: 1, "\(run.text)")
    #expect(run.text.contains("  \(package) ") && run.text.contains(Self.script), "\(run.text)")
    expect(machine.started(), equals: ["dpkg-query"])
  }

  /// Verified to fail when the words are looked at after the packages.
  @Test(
    "a wrong word ends scripts/test before anything is looked for",
    arguments: [
      "--fast", "HOTP", "--filter", "--sanitize", "--sanitize leak", "--quick HEAD HEAD",
      "--requirements HOTP",
    ])
  func wrongWord(words: String) throws {
    let machine = try StandIns(missing: "zsh")
    defer { machine.remove() }
    let run = try machine.run("scripts/test", words.split(separator: " ").map(String.init))
    expect(run.status, equals: 2, "\(run.text)")
    #expect(run.text.contains("scripts/test --help"), "\(run.text)")
    expect(machine.started(), equals: [])
  }

  /// Verified to fail when the script does not ask for root, and when it asks after `apt-get update`.
  @Test("a user who may not install is given the command, and nothing is started")
  func noRoot() throws {
    let machine = try StandIns(missing: "oathtool", user: 1000)
    defer { machine.remove() }
    let run = try machine.run(Self.script, [])
    expect(run.status, equals: 1)
    #expect(run.text.contains("sudo apt-get install --no-install-recommends oathtool\n"), "\(run.text)")
    expect(machine.started(), equals: ["dpkg-query"])
  }

  /// Verified to fail when `apt-get` is started without `sudo`.
  @Test("a user installs by sudo what is missing, and no more")
  func sudo() throws {
    let machine = try StandIns(missing: "oathtool", user: 1000)
    defer { machine.remove() }
    try machine.add("sudo", "[ \"$1\" = -n ] && shift && exec \"$@\"", isRecorded: true)
    let run = try machine.run(Self.script, [])
    expect(run.status, equals: 0, "\(run.text)")
    #expect(run.text.contains("installed 1 package"), "\(run.text)")
    let installs = machine.started().filter { $0.hasPrefix("sudo") && $0.contains(" install ") }
    expect(installs.count, equals: 1)
    #expect(installs.allSatisfy { $0.hasSuffix(" --no-install-recommends oathtool") }, "\(installs)")
  }

  /// Verified to fail when what `apt-get` says is not shown, and when the packages are not looked at again after it.
  @Test("a package that could not be installed is an error with the reason", arguments: [100, 0])
  func failed(status: Int) throws {
    let machine = try StandIns(missing: "oathtool")
    defer { machine.remove() }
    try machine.add("apt-get", "echo \"E: no network for $*\"; exit \(status)")
    let run = try machine.run(Self.script, [])
    expect(run.status, equals: 1)
    guard status != 0 else { return #expect(run.text.contains("still missing"), "\(run.text)") }
    #expect(
      run.text.contains("apt-get update failed") && run.text.contains("apt-get install failed"), "\(run.text)"
    )
    let reasons = run.text.split(separator: "\n").filter { $0.hasPrefix("E: no network") }
    expect(reasons.count, equals: 2)
  }

  /// Verified to fail when the toolchain is looked for after the packages.
  @Test("without a Swift toolchain, the script says so before it installs anything")
  func noToolchain() throws {
    let machine = try StandIns(missing: "oathtool")
    defer { machine.remove() }
    try FileManager.default.removeItem(at: machine.folder.appendingPathComponent("swift"))
    // The system may have a toolchain among its programs.
    for name in ["bash", "sh", "env", "cat", "cut", "head", "mktemp", "rm", "sed", "sort", "tail", "tr"] {
      try machine.link(name)
    }
    let run = try machine.run(Self.script, [], path: "")
    expect(run.status, equals: 1)
    #expect(run.text.contains("there is no `swift` in PATH"), "\(run.text)")
    expect(machine.started(), equals: [])
  }

  /// Verified to fail when the version is not compared.
  @Test("a Swift toolchain that is too old is an error")
  func oldToolchain() throws {
    let machine = try StandIns()
    defer { machine.remove() }
    try machine.add("swift", "echo 'Swift version 6.1.2'")
    let run = try machine.run(Self.script, ["--check"])
    #expect(run.status == 1 && run.text.contains("Swift 6.1 found"), "\(run.text)")
  }
}
