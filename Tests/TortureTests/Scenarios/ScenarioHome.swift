import AuthenticatorKit
import CommandLineKit
import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultCommands
import VaultKit
import VaultTestKit

extension Torture {
  /// A restore over a vault asks for it, in the versions that have the option.
  static let replaceOption =
    VaultTable.hasOption("replace", of: ["restore"]) ? ["--replace"] : [String]()

  /// A home directory of a scenario: what is read is in `in`, what is made beside the vault in `out`.
  final class ScenarioHome: @unchecked Sendable {  // used by one thread at a time
    let folder: String
    let hasNamedKey: Bool
    /// The program: that of the tests, whose derivations cost nothing, or `vaultctl`.
    let tool: String

    var vault: String { folder + "/.local/share/vaultctl/default.vault" }

    init(hasNamedKey: Bool, tool: String = "vaultctl-testing") throws {
      (self.hasNamedKey, self.tool) = (hasNamedKey, tool)
      folder = (Place.fast ?? NSTemporaryDirectory()) + "/vault-scenario-\(UUID().uuidString)"
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private var kept: Disk?

    /// Notes what is there now, for ``reset()``.
    func keep() throws { kept = try Disk(below: folder) }

    /// Puts back what was kept.
    func reset() throws { try kept?.write(below: folder) }

    /// The call of a scenario where `@` is this home.
    func words(_ words: [String]) -> [String] {
      words.map { $0.hasPrefix("@/") ? folder + $0.dropFirst() : $0 }
    }

    struct Run {
      let status: Int32
      let output: [String]
      let errors: String
    }

    /// - Parameter before: A program with its words that starts the tool.
    func attempt(_ words: [String], _ input: String = "", before: [String] = []) throws -> Run {
      let gate = try Gate()
      gate.write(input)
      gate.open()
      let all = before + [Built.path(tool)] + self.words(words)
      let said = folder + ".errors"
      defer { try? FileManager.default.removeItem(atPath: said) }
      let process = try Running(
        all[0], Array(all.dropFirst()), environment: environment, gate: gate, errorFile: said)
      let output = process.lines()
      let status = process.wait()
      return Run(
        status: status, output: output,
        errors: (try? String(contentsOfFile: said, encoding: .utf8)) ?? "")
    }

    /// Runs what has to succeed.
    @discardableResult
    func run(
      _ words: [String], _ input: String = "", before: [String] = [], exit: Int32 = 0
    ) throws -> [String] {
      let run = try attempt(words, input, before: before)
      guard run.status == exit else {
        throw Failed(text: "\(words): \(run.status) \(run.output) \(run.errors)")
      }
      return run.output
    }

    /// Thrown on threads that belong to no test, where an expectation would be lost.
    struct Failed: Error { let text: String }

    var environment: [String: String] {
      var variables = ["HOME": folder]
      if hasNamedKey { variables["VAULTCTL_DEVICE_KEY"] = key }
      if let time {
        variables["VAULTCTL_TESTING_CLOCK"] = "\(time.wall)"
        variables["VAULTCTL_TESTING_BOOT"] = "\(time.boot)"
      }
      return variables
    }

    // MARK: its time

    /// Where the clocks of the tool stand, in seconds; `nil` for those of the machine.
    private var time: (wall: Int, boot: Int)?

    /// At the moment at which the vault was written.
    func stopClock() throws {
      let about = try FileManager.default.attributesOfItem(atPath: vault)
      guard let written = about[.modificationDate] as? Date else { throw Failed(text: "\(about)") }
      time = (Int(written.timeIntervalSince1970) + 1, 1_000)
    }

    func advanceClock(by seconds: Int) { time = time.map { ($0.wall + seconds, $0.boot + seconds) } }

    func startClock() { time = nil }

    // MARK: its files

    private var key: String { folder + "/keys/device.key" }

    var protector: FileProtector {
      hasNamedKey ? FileProtector(file: key) : FileProtector(folder: folder + "/.local/state/vaultctl")
    }

    func open() throws(VaultError) -> VaultCore {
      try VaultCore.open(at: vault, protector: protector, environment: .testing())
    }

    /// Keeps the vault open in this process, so that its log and the log's index stay after the call.
    func held(for scenario: Scenario) throws -> RawSQLite.Held? {
      hasVault && !scenario.needsVaultAlone ? try RawSQLite.Held(vault) : nil
    }

    var hasVault: Bool { FileManager.default.fileExists(atPath: vault) }

    /// The device keys that are there, by their names below the home.
    func keyFiles() throws -> [String] {
      try FileManager.default.subpathsOfDirectory(atPath: folder).filter {
        $0.hasSuffix(".key") && !$0.hasPrefix("in/")
      }.sorted()
    }

    func write(_ name: String, _ text: String) throws {
      let path = folder + "/" + name
      try text.write(toFile: path, atomically: false, encoding: .utf8)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }

    func copy(_ name: String, to other: String) throws {
      try? FileManager.default.removeItem(atPath: folder + "/" + other)
      try FileManager.default.copyItem(atPath: folder + "/" + name, toPath: folder + "/" + other)
    }

    func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: folder + "/" + name) }

    /// The files in which one of the secrets is in clear, except those that the call reads or makes beside the vault.
    func leaks() -> [String] {
      let paths = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
      return paths.filter { !$0.hasPrefix("in/") && !$0.hasPrefix("out/") }.flatMap { path -> [String] in
        guard let bytes = FileManager.default.contents(atPath: folder + "/" + path) else { return [] }
        return leaks(in: bytes, path)
      }
    }

    func leaks(in bytes: Data, _ place: String) -> [String] {
      Self.canaries.flatMap { canary in
        canary.forms(in: bytes).map { "'\(canary.text)' as \($0) in \(place)" }
      }
    }

    private static let canaries = Scenario.secrets.values.map { Canary($0) }
  }

  /// The homes that scenarios begin with, each made once and put back for the next scenario.
  final class ScenarioHomes {
    private let tool: String
    private var homes: [String: (home: ScenarioHome, start: Disk)] = [:]

    init(tool: String = "vaultctl-testing") { self.tool = tool }

    /// A home in the state that the scenario needs, kept for ``ScenarioHome/reset()``. The next scenario may get the
    /// same home.
    func home(of scenario: Scenario) throws -> ScenarioHome {
      let name = "\(scenario.start) \(scenario.hasNamedKey)"
      if let (home, start) = homes[name] {
        try start.write(below: home.folder)
        // In another file the vault would be taken for a copy.
        if !start.isOriginal(at: home.vault) { homes[name] = nil }
      }
      if homes[name] == nil {
        let home = try ScenarioHome(scenario.start, hasNamedKey: scenario.hasNamedKey, tool: tool)
        homes[name] = (home, try Disk(below: home.folder))
      }
      let home = homes[name]!.home
      home.startClock()
      try scenario.before(home)
      try home.keep()
      return home
    }
  }

  /// What the table of verbs says.
  enum VaultTable {
    static func hasOption(_ name: String, of words: [String]) -> Bool {
      VaultCommands.VerbTable.verb(words)?.ownOptions.contains { $0.name == name } == true
    }
  }
}

extension Torture.ScenarioHome {
  /// Makes a home from nothing, by the tool.
  convenience init(
    _ start: Torture.Scenario.Start, hasNamedKey: Bool, tool: String = "vaultctl-testing"
  ) throws {
    try self.init(hasNamedKey: hasNamedKey, tool: tool)
    for name in ["", "/in", "/out"] {
      try FileManager.default.createDirectory(
        atPath: folder + name, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }
    for (name, text) in [
      ("pass", "the passcode"), ("new", "another passcode"), ("passphrase", "a long passphrase"),
      ("phrase", "my phrase is long"), ("other-phrase", "another long phrase"),
    ] { try write("in/" + name, text) }
    let passcode = start == .locked ? ["--passcode-file", "@/in/pass"] : []
    let made = try run(
      ["init", "--json"] + (passcode.isEmpty ? ["--no-passcode"] : ["--recovery-code"] + passcode))
    if let code = made.first?.components(separatedBy: "\"recoveryCode\":\"").dropFirst().first {
      try write("in/code", String(code.prefix { $0 != "\"" }))
    }
    try fill(passcode)
    if start == .nothing { try FileManager.default.removeItem(atPath: folder + "/.local") }
    if start == .nothing { try? FileManager.default.removeItem(atPath: folder + "/keys") }
  }

  /// Adds a credential with a suite, and a file with a PIN for it.
  func addSigner(_ name: String, role: String, suite: String, options: [String] = []) throws {
    try write("in/pin", Torture.Scenario.secrets["changed"]!)
    try run(
      ["otp", "add", name, "--role", role, "--suite", suite, "--secret-format", "raw"] + options,
      Torture.Scenario.secrets["first"]!)
  }

  /// Makes the PIN item `pin` of a locked vault, and a file with its PIN.
  func setPIN() throws {
    try write("in/pin", "830617")
    try run(["pin", "set", "--new-pin-file", "@/in/pin", "--passcode-file", "@/in/pass"])
  }

  /// Puts the credential `guarded` behind a PIN of a vault without a passcode, and makes files with the PIN, with a new
  /// one, and with the unlock key of a checked one.
  func guardCredential(_ mode: String) throws {
    try write("in/pin", "830617")
    try write("in/new-pin", "274950")
    let isChecked = mode == "checked"
    try run(
      ["pin", "set", "guard", "--mode", mode]
        + (isChecked ? ["--new-pin-file", "@/in/pin", "--unlock-key-out", "@/in/unlock-key"] : []))
    try run(
      ["otp", "add", "guarded", "--pin", "guard", "--pin-file", "@/in/pin"],
      "otpauth://hotp/x?secret=T45QZUPEQJ3RNIC37YZQTRGYCJ5OMYKP&counter=0")
  }

  /// Makes a transport whose server believes every code. Its secrets are among those that are in no other file.
  ///
  /// It notes its requests in the file `in/requests`, answers nothing where there is `in/deaf`, and takes the
  /// state of its answers from `in/state`, if these are there.
  ///
  /// - Parameter mode: The PIN mode of the credential.
  func addServer(mode: Int = 0, unlockMode: Int = 1, lifeSeconds: Int = 600) throws {
    func base64(_ name: String) -> String {
      Data(Torture.Scenario.secrets[name]!.utf8).base64EncodedString()
    }
    let credential = #""credential":{"type":"hotp","secretBase64":"\#(base64("changed"))"}"#
    let start = #""peer":"c-17","pinMode":\#(mode),"lifeSeconds":\#(lifeSeconds),"#
    let script = """
      #!/bin/sh
      read -r line
      if [ -e '\(folder)/in/requests' ]; then printf '%s\n' "$line" >> '\(folder)/in/requests'; fi
      if [ -e '\(folder)/in/deaf' ]; then exit 1; fi
      state=active
      if [ -e '\(folder)/in/state' ]; then read -r state < '\(folder)/in/state'; fi
      id=${line#*'"id":"'} operation=${line#*'"operation":"'}
      say() { printf '{"version":1,"id":"%s"%s}\n' "${id%%'"'*}" "$1"; }
      case ${operation%%'"'*} in
      activationStart) say ',\(start)"secretBase64":"\(base64("first"))"' ;;
      activationFinish) say ',\(credential)' ;;
      unlockStart) say ',"unlock":"u-'$$'","pinMode":\(unlockMode)' ;;
      unlockFinish) say '\(unlockMode == 2 ? "," + credential : "")' ;;
      synchronize) say ",\\"state\\":\\"$state\\",\\"counter\\":2" ;;
      \(clientAnswers)
      consentRequest) say ',"challenge":"ch-1"' ;;
      consentConfirm) say ',"tokenBase64":"\(base64("first"))"' ;;
      onlineStart) say ',"challenge":"c-1"' ;;
      onlineFinish) say ',"unixTime":'"$(date +%s)" ;;
      login) say ',"login":"l-1"' ;;
      transactionNext) say ',"transaction":{"alias":"pay-1","lifeSeconds":2592000,"context":"Pay 12 EUR"}' ;;
      *) say '' ;;
      esac

      """
    try write("in/code", Self.code)
    try write("in/draft", script)
    // Another process makes it: a child that is started meanwhile would hold one of ours open for writing.
    try #require(
      Child("/usr/bin/install", ["-m", "700", folder + "/in/draft", folder + "/in/server"], [:]).start()
        .wait()
        == 0)
  }

  func startActivation(mode: Int = 0, unlockMode: Int = 1, lifeSeconds: Int = 600) throws {
    try addServer(mode: mode, unlockMode: unlockMode, lifeSeconds: lifeSeconds)
    try run(["otp", "activate", "start", "bank"] + Self.codeOptions)
  }

  /// Stores the card token `card` of the session in `in/session`.
  func putToken(uses: Int = 1, life: String = "1h") throws {
    try write("in/session", Torture.Scenario.session)
    try run(
      ["card", "put", "card", "--ttl", life, "--uses", "\(uses)", "--session-file", "@/in/session"],
      Torture.Scenario.secrets["first"]!)
  }

  /// Requests the consent `view`, whose code is in `in/code`.
  func requestConsent() throws {
    try addServer()
    try run([
      "card", "consent", "request", "view", "--user", "u-17", "--card", "c-4", "--transport", "@/in/server",
    ])
  }

  private static let metadata = """
    {"issuer":"https://as.example","token_endpoint":"https://as.example/token",
    "authorization_endpoint":"https://as.example/authorize","registration_endpoint":"https://as.example/register",
    "revocation_endpoint":"https://as.example/revoke","device_authorization_endpoint":"https://as.example/device"}
    """
  private static let device = """
    {"device_code":"\(Torture.Scenario.secrets["tokens"]!)","user_code":"WDJB-MJHT","interval":1,
    "verification_uri":"https://as.example/device","expires_in":900}
    """
  private static let registration = """
    {"client_id":"client-1","client_secret":"\(Torture.Scenario.secrets["tokens"]!)"}
    """
  private static func tokens(_ type: String) -> String {
    let token = Torture.Scenario.secrets["tokens"]!
    return
      #"{"access_token":"\#(token)-a","token_type":"\#(type)","expires_in":3600,"refresh_token":"\#(token)-r"}"#
  }

  /// What the server answers to an OAuth client, as cases of its script. Tokens are bound if `in/bound` is there.
  private var clientAnswers: String {
    func reply(_ body: String) -> String {
      #","status":200,"headersBase64":"","bodyBase64":"\#(Data(body.utf8).base64EncodedString())""#
    }
    return """
      oauthMetadata) say '\(reply(Self.metadata))' ;;
      oauthRegister) say '\(reply(Self.registration))' ;;
      oauthDevice) say '\(reply(Self.device))' ;;
      oauthToken) if [ -e '\(folder)/in/bound' ]; then say '\(reply(Self.tokens("DPoP")))'
        else say '\(reply(Self.tokens("Bearer")))'; fi ;;
      oauthRevoke) say ',"status":200' ;;
      """
  }

  /// Registers the client `shop`.
  func registerClient() throws {
    try addServer()
    try run([
      "oauth", "register", "shop", "--template", "t1", "--url", "https://as.example", "--redirect-uri",
      "https://shop.example/back", "--transport", "@/in/server",
    ])
  }

  /// Gets tokens for the client `shop`.
  func authorizeClient() throws {
    try registerClient()
    try run(["oauth", "token", "shop", "--grant", "authorization_code"] + Self.answerOptions, Self.code)
  }

  /// Gets tokens for the client `shop` that are bound to the key `k1`, whose uses are logged.
  func bindTokens() throws {
    try registerClient()
    try write("in/bound", "")
    try run(["key", "generate", "k1"])
    try run(
      ["oauth", "token", "shop", "--grant", "authorization_code", "--dpop", "k1"] + Self.answerOptions,
      Self.code)
  }

  /// Makes the active credential `bank`, without a PIN.
  func activate() throws {
    try startActivation()
    try run(["otp", "activate", "finish", "bank"] + Self.codeOptions)
  }

  /// Makes the active credential `bank` behind the PIN in `in/pin`.
  func activateGuarded() throws {
    try write("in/pin", "830617")
    try startActivation(mode: 1)
    try run(
      ["otp", "activate", "finish", "bank", "--pin-mode", "checked", "--pin-file", "@/in/pin"]
        + Self.codeOptions)
  }

  /// Makes the credential `bank` behind a PIN that is blocked.
  func blockActivated(unlockMode: Int = 1) throws {
    try write("in/pin", "830617")
    try write("in/new-pin", "274950")
    try run(["pin", "set", "--limit", "5", "--new-pin-file", "@/in/pin"])
    try startActivation(mode: 1, unlockMode: unlockMode)
    try run(
      ["otp", "activate", "finish", "bank", "--pin", "pin", "--pin-file", "@/in/pin"] + Self.codeOptions)
    for _ in 0..<5 { try run(["code", "bank", "--pin-file", "@/in/new-pin"], exit: 3) }
  }

  private static let codeOptions = ["--transport", "@/in/server", "--code-file", "@/in/code"]
  private static let answerOptions = ["--transport", "@/in/server", "--code-fd", "0"]
  /// What the server takes as its code.
  static let code = "471199"

  /// Activates the credential `bank` behind a PIN, and receives the transaction `pay-1` for it.
  func receiveTransaction() throws {
    try activateGuarded()
    try run(["transaction", "list", "--transport", "@/in/server"])
  }

  private func fill(_ passcode: [String]) throws {
    let secrets = Torture.Scenario.secrets
    func add(_ name: String, _ options: String...) throws {
      try run(["add", name] + options + passcode, secrets[name]!)
    }
    try add("old", "--service", secrets["service"]!, "--account", secrets["account"]!)
    try add("kept")
    try add("logged", "--audit", "all")
    let uri = "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0"
    try run(["otp", "add", "counter"] + passcode, uri)
    try run(["otp", "add", "door", "--role", "verifier"] + passcode, uri)
    try run(["backup", "@/in/backup.vault", "--passphrase-file", "@/in/passphrase"] + passcode)
    for _ in 0..<3 { try run(["code", "counter"] + passcode) }
    try add("late")
    guard !passcode.isEmpty else { return }
    try run(["biometry", "enroll", "voice", "--phrase-file", "@/in/phrase"] + passcode)
    try add("bound", "--access", "biometry-current-set")
  }
}
