import Foundation
import Testing

extension Torture {
  /// One call of a verb that writes, and the home directory that it is made in.
  ///
  /// `system-calls`, `crash-states`, `leaks` and `mutations` walk the same list: see ``Scenario/all``. A verb that writes and
  /// that is in no row of it fails a test.
  struct Scenario: Sendable, CustomStringConvertible, CustomTestStringConvertible {
    /// The verb, as the table of `vaultctl` has it.
    let verb: String
    /// What sets this call apart from others of the verb.
    var variant = ""
    var start = Start.plain
    var hasNamedKey = false
    /// What happens to the home before the call.
    var before: @Sendable (ScenarioHome) throws -> Void = { _ in }
    /// The call; `@` stands for the home.
    let words: [String]
    var input = ""
    /// What it makes beside the vault.
    var product: Product?
    /// The exit code when nothing goes wrong: a verb may refuse every call that is possible so far.
    var exit: Int32 = 0
    /// It commits several times, and a vault between two of these commits is valid too.
    var commitsOften = false
    /// No other process may have the vault open.
    var needsVaultAlone = false
    /// The vault does not open before the call: its device key is lost.
    var isWithoutKey = false
    /// It prints its result before it has one: only the exit code acknowledges it.
    var printsBefore = false

    var description: String { variant.isEmpty ? verb : "\(verb), \(variant)" }
    var testDescription: String { description }

    /// What a home begins with.
    enum Start: CaseIterable {
      /// No vault; a backup of one.
      case nothing
      /// A vault without a passcode, and a backup of an earlier state of it.
      case plain
      /// The same with a passcode, a recovery code and an enrolled phrase.
      case locked
    }

    enum Product {
      case backup, export
      /// One device key, and no old one beside it.
      case oneKey
      /// The template of the scenario, with the secret of "logged" in it.
      case injected
    }
  }
}

extension Torture.Scenario {
  /// Each verb that writes, in the order of its family in the table of verbs.
  static let all: [Torture.Scenario] =
    life + passcode + items + credentials + transactions + pins + servers + members + cards + clientKeys
    + clients
    + transfer
    + keys

  private static let passcodeOption = ["--passcode-file", "@/in/pass"]
  private static let phraseOption = ["--passphrase-file", "@/in/passphrase"]
  private static let uri = "otpauth://hotp/new?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=5"

  private static let life = [
    Self(verb: "init", start: .nothing, words: ["init", "--no-passcode"]),
    Self(
      verb: "init", variant: "key in a named file", start: .nothing, hasNamedKey: true,
      words: ["init", "--no-passcode"]),
    Self(
      verb: "init", variant: "with a passcode and a recovery code", start: .nothing,
      words: ["init", "--recovery-code"] + passcodeOption, printsBefore: true),
    Self(
      verb: "vault doctor", variant: "an old key is left",
      before: { home in
        let old = try #require(try home.keyFiles().first)
        try home.copy(old, to: "in/old.key")
        try home.run(["vault", "rotate", "device-key"])
        try home.copy("in/old.key", to: old)
      }, words: ["doctor", "--remove-old-keys"], product: .oneKey),
    Self(
      verb: "vault clock",
      before: { home in
        try home.stopClock()
        try home.run(["edit", "old", "--comment", "in this boot"])
        home.advanceClock(by: 7200)
        try home.run(["edit", "old", "--comment", "two hours later"])
        home.advanceClock(by: -3600)
      }, words: ["vault", "clock", "--reset"]),
    Self(
      verb: "vault batch", words: ["vault", "batch"],
      input: """
        {"args":["add","first"],"stdin":"\(Torture.Scenario.secrets["first"]!)"}
        {"args":["code","counter"]}
        {"args":["rm","old"]}

        """, commitsOften: true),
  ]

  private static let passcode = [
    Self(verb: "passcode set", words: ["passcode", "set", "--new-passcode-file", "@/in/new"]),
    Self(
      verb: "passcode change", start: .locked,
      words: ["passcode", "change", "--new-passcode-file", "@/in/new"] + passcodeOption),
    Self(verb: "passcode remove", start: .locked, words: ["passcode", "remove"] + passcodeOption),
  ]

  private static let items = [
    Self(verb: "add", words: ["add", "new"], input: secrets["new"]!),
    Self(
      verb: "add", variant: "behind a passcode", start: .locked,
      words: ["add", "new"] + passcodeOption, input: secrets["new"]!),
    Self(
      verb: "add", variant: "an entry",
      words: ["add", "new", "--no-password", "--field-fd", "PIN=0", "--tag", "work"],
      input: secrets["new"]!),
    Self(verb: "get", words: ["get", "logged"]),
    Self(verb: "show", words: ["show", "logged", "--reveal"]),
    Self(
      verb: "find",
      before: {
        try $0.run(["add", "entry", "--no-password", "--field", "k=needle", "--audit", "all"])
      },
      words: ["find", "needle", "--all"]),
    Self(
      verb: "edit", variant: "a new password", words: ["edit", "old", "--password"],
      input: secrets["changed"]!),
    Self(
      verb: "edit", variant: "a new password of an entry, with a former version",
      before: { home in
        try home.run(["edit", "old", "--set", "field:k=v"])
        try home.run(["edit", "old", "--generate", "24"])
      }, words: ["edit", "old", "--password"], input: secrets["changed"]!),
    Self(
      verb: "edit", variant: "a new password, and nothing former stays",
      before: { try $0.run(["edit", "old", "--generate", "24"]) },
      words: ["edit", "old", "--password", "--forget"], input: secrets["changed"]!),
    Self(verb: "edit", words: ["edit", "old", "--label", "another label"]),
    Self(
      verb: "edit", variant: "a hidden field",
      words: ["edit", "old", "--field-fd", "PIN=0"], input: secrets["changed"]!),
    Self(verb: "mv", words: ["mv", "old", "renamed"]),
    Self(
      verb: "undo", variant: "to a version",
      before: { try $0.run(["edit", "old", "--generate", "24"]) },
      words: ["undo", "old", "1"]),
    Self(
      verb: "undo", before: { try $0.run(["edit", "old", "--generate", "24"]) },
      words: ["undo", "old"]),
    Self(verb: "cp", words: ["cp", "old", "second"]),
    Self(verb: "gen", words: ["gen", "generated"]),
    Self(verb: "read", words: ["read", "vaultctl://logged/password"]),
    Self(verb: "rm", words: ["rm", "old"]),
    Self(verb: "rm", variant: "at once", words: ["rm", "old", "--now"]),
    Self(
      verb: "trash restore", before: { try $0.run(["rm", "old"]) },
      words: ["trash", "restore", "old"]),
    Self(
      verb: "trash empty", before: { try $0.run(["rm", "old"]) },
      words: ["trash", "empty"]),
    Self(verb: "run", words: ["run", "--fd", "3=logged", "--", "/bin/true"]),
    Self(
      verb: "run", variant: "without masking",
      words: ["run", "--fd", "3=logged", "--no-masking", "--", "/bin/true"]),
    Self(
      verb: "run", variant: "behind a passcode, with a file of variables", start: .locked,
      before: { try $0.write("in/env", "A=vaultctl://logged\nB=plain\n") },
      words: ["run", "--env-file", "@/in/env"] + passcodeOption + ["--", "/bin/true"]),
    Self(verb: "inject", words: ["inject"], input: injected),
    Self(
      verb: "inject", variant: "into a file", words: ["inject", "--out", "@/out/injected"], input: injected,
      product: .injected),
  ]

  private static let injected = "a {{ vaultctl://logged }} b {{ vaultctl://logged/password }} c"

  private static let credentials = [
    Self(verb: "otp add", words: ["otp", "add", "new"], input: uri),
    Self(verb: "code", words: ["code", "counter"]),
    Self(
      verb: "code", variant: "behind a passcode", start: .locked,
      words: ["code", "counter"] + passcodeOption),
    Self(verb: "otp verify", words: ["otp", "verify", "door"], input: "755224"),
    // The fifth and the sixth code.
    Self(verb: "otp resync", words: ["otp", "resync", "door"], input: "338314\n254676\n"),
    Self(verb: "otp counter", words: ["otp", "counter", "counter", "--set", "7"]),
    Self(verb: "otp export", words: ["otp", "export", "counter"]),
    Self(verb: "otp rm", words: ["otp", "rm", "door"]),
    Self(
      verb: "trash restore", variant: "a counter", before: { try $0.run(["otp", "rm", "counter"]) },
      words: ["trash", "restore", "counter"]),
  ]

  private static let transactions = [
    Self(
      verb: "otp add", variant: "with a suite",
      words: ["otp", "add", "new", "--suite", countedSuite, "--secret-format", "raw"], input: secrets["new"]!),
    Self(
      verb: "transaction sign", before: { try $0.addSigner("signer", role: "prover", suite: countedSuite) },
      words: ["transaction", "sign", "signer", "--suite-pin-file", "@/in/pin"], input: "Pay 12 EUR to Anna"),
    Self(
      verb: "transaction sign", variant: "behind a passcode, without a counter, logged", start: .locked,
      before: { home in
        try home.addSigner(
          "signer", role: "prover", suite: "OCRA-1:HOTP-SHA256-8:QH64",
          options: ["--audit", "all"] + passcodeOption)
      }, words: ["transaction", "sign", "signer"] + passcodeOption, input: "Pay 12 EUR to Anna"),
    Self(
      verb: "transaction verify",
      before: { try $0.addSigner("gate", role: "verifier", suite: "OCRA-1:HOTP-SHA1-6:C-QN08") },
      words: ["transaction", "verify", "gate", "--question", "00000000"], input: gateCode),
    Self(
      verb: "transaction list", before: { try $0.activateGuarded() },
      words: ["transaction", "list"] + transportOption),
    Self(
      verb: "transaction show", before: { try $0.activateGuarded() },
      words: ["transaction", "show", "--push"] + transportOption, input: #"{"alias":"pay-1"}"#),
    Self(
      verb: "transaction accept", before: { try $0.receiveTransaction() },
      words: ["transaction", "accept", "pay-1"] + transportOption + pinOption),
    Self(
      verb: "transaction reject", before: { try $0.receiveTransaction() },
      words: ["transaction", "reject", "pay-1"] + transportOption),
    Self(
      verb: "transaction cancel", before: { try $0.receiveTransaction() },
      words: ["transaction", "cancel", "pay-1"] + transportOption),
    Self(
      verb: "transaction list", variant: "that tells a decision",
      before: { home in
        try home.receiveTransaction()
        try home.write("in/deaf", "")
        try home.run(["transaction", "reject", "pay-1"] + transportOption, exit: 16)
        try home.remove("in/deaf")
      }, words: ["transaction", "list"] + transportOption),
  ]

  private static let countedSuite = "OCRA-1:HOTP-SHA256-8:C-QH64-PSHA1"
  /// The code of ``ScenarioHome/addSigner(_:role:suite:options:)`` for the counter 0 and the question 00000000.
  private static let gateCode = "475885"

  private static let members = [
    Self(
      verb: "biometry enroll", start: .locked,
      words: ["biometry", "enroll", "other", "--phrase-file", "@/in/other-phrase"] + passcodeOption),
    Self(
      verb: "biometry remove", start: .locked, words: ["biometry", "remove", "voice"] + passcodeOption),
    Self(
      verb: "biometry biokey register", start: .locked, before: { try $0.setPIN() },
      words: ["biometry", "biokey", "register"] + pinOption + passcodeOption),
    Self(
      verb: "biometry biokey register", variant: "in place of another", start: .locked,
      before: { home in
        try home.setPIN()
        try home.run(["biometry", "biokey", "register"] + pinOption + passcodeOption)
      }, words: ["biometry", "biokey", "register", "--members", "any"] + pinOption + passcodeOption),
    Self(
      verb: "biometry biokey reset", start: .locked,
      before: { home in
        try home.setPIN()
        try home.run(["biometry", "biokey", "register"] + pinOption + passcodeOption)
      }, words: ["biometry", "biokey", "reset"] + pinOption + passcodeOption),
  ]

  private static let pins = [
    Self(
      verb: "otp add", variant: "behind a PIN that is made first",
      before: { try $0.write("in/pin", "830617") },
      words: ["otp", "add", "new", "--pin-mode", "checked"] + pinOption, input: uri, commitsOften: true),
    Self(
      verb: "code", variant: "behind a checked PIN", before: { try $0.guardCredential("checked") },
      words: ["code", "guarded"] + pinOption),
    Self(
      verb: "code", variant: "behind a camouflaged PIN",
      before: { try $0.guardCredential("camouflaged") }, words: ["code", "guarded"] + pinOption),
    Self(
      verb: "otp confirm",
      before: { home in
        try home.guardCredential("camouflaged")
        try home.run(changed)
        try home.run(["code", "guarded", "--pin-file", "@/in/new-pin"])
      }, words: ["otp", "confirm", "guarded"]),
    Self(
      verb: "pin set", before: { try $0.write("in/pin", "830617") },
      words: ["pin", "set", "--new-pin-file", "@/in/pin"]),
    Self(
      verb: "pin set", variant: "with an unlock key", before: { try $0.write("in/pin", "830617") },
      words: ["pin", "set", "--new-pin-file", "@/in/pin", "--unlock-key-out", "@/out/unlock-key"]),
    Self(
      verb: "pin verify", before: { try $0.guardCredential("checked") },
      words: ["pin", "verify", "guard"] + pinOption),
    Self(verb: "pin change", before: { try $0.guardCredential("checked") }, words: changed),
    Self(
      verb: "pin undo",
      before: { home in
        try home.guardCredential("camouflaged")
        try home.run(changed)
      }, words: ["pin", "undo", "guard"]),
    Self(
      verb: "pin unlock", before: { try $0.guardCredential("checked") },
      words: [
        "pin", "unlock", "guard", "--unlock-key-file", "@/in/unlock-key", "--new-pin-file", "@/in/new-pin",
      ]),
  ]

  private static let changed = ["pin", "change", "guard", "--new-pin-file", "@/in/new-pin"] + pinOption
  private static let pinOption = ["--pin-file", "@/in/pin"]

  private static let servers = [
    Self(
      verb: "otp activate start", before: { try $0.addServer() },
      words: ["otp", "activate", "start", "bank"] + codeOptions),
    Self(
      verb: "otp activate start", variant: "of a disabled credential",
      before: { home in
        try home.activate()
        try home.run(["otp", "activate", "disable", "bank"] + transportOption)
      }, words: ["otp", "activate", "start", "bank"] + codeOptions),
    Self(
      verb: "otp activate finish", before: { try $0.startActivation() },
      words: ["otp", "activate", "finish", "bank"] + codeOptions),
    Self(
      verb: "otp activate finish", variant: "behind a PIN that is made first",
      before: { home in
        try home.write("in/pin", "830617")
        try home.startActivation(mode: 1)
      }, words: ["otp", "activate", "finish", "bank", "--pin-mode", "checked"] + codeOptions + pinOption,
      commitsOften: true),
    Self(
      verb: "otp activate status", variant: "of an activation whose time is over",
      before: { home in
        try home.stopClock()
        try home.startActivation(lifeSeconds: 1)
        home.advanceClock(by: 2)
      }, words: ["otp", "activate", "status", "bank"], exit: 7),
    Self(
      verb: "otp sync", before: { try $0.activateGuarded() },
      words: ["otp", "sync", "bank"] + transportOption + pinOption, commitsOften: true),
    Self(
      verb: "otp sync", variant: "of a credential that the server blocks",
      before: { home in
        try home.activate()
        try home.write("in/state", "blocked\n")
      }, words: ["otp", "sync", "bank"] + transportOption, exit: 4),
    Self(
      verb: "code", variant: "that the server gets", before: { try $0.activateGuarded() },
      words: ["code", "bank", "--online"] + transportOption + pinOption, commitsOften: true),
    Self(
      verb: "code", variant: "of time, the last before a synchronization",
      before: { try $0.run(["otp", "add", "limited", "--offline-codes", "1"], timedURI) },
      words: ["code", "limited"]),
    Self(
      verb: "pin verify", variant: "for a server", before: { try $0.activateGuarded() },
      words: ["pin", "verify", "--credential", "bank", "--data"] + transportOption + pinOption,
      input: secrets["first"]!, commitsOften: true),
    Self(
      verb: "otp activate disable", before: { try $0.activate() },
      words: ["otp", "activate", "disable", "bank"] + transportOption),
    Self(
      verb: "pin unlock", variant: "by a server: the first step", before: { try $0.blockActivated() },
      words: ["pin", "unlock", "--credential", "bank", "--start"] + transportOption),
    Self(
      verb: "pin unlock", variant: "by a server: the current PIN",
      before: { home in
        try home.blockActivated()
        try home.run(["pin", "unlock", "--credential", "bank", "--start"] + transportOption)
      }, words: ["pin", "unlock", "--credential", "bank"] + codeOptions + pinOption),
    Self(
      verb: "pin unlock", variant: "by a server: a new PIN and a new secret",
      before: { home in
        try home.blockActivated(unlockMode: 2)
        try home.run(["pin", "unlock", "--credential", "bank", "--start"] + transportOption)
      }, words: ["pin", "unlock", "--credential", "bank", "--new-pin-file", "@/in/new-pin"] + codeOptions),
  ]

  private static let timedURI = "otpauth://totp/x?secret=T45QZUPEQJ3RNIC37YZQTRGYCJ5OMYKP"
  private static let transportOption = ["--transport", "@/in/server"]
  private static let codeOptions = transportOption + ["--code-file", "@/in/code"]

  private static let clientKeys = [
    Self(verb: "key generate", words: ["key", "generate", "new", "--type", "ed25519"]),
    Self(
      verb: "key import",
      before: { home in
        try home.write("in/file-phrase", "correct horse")
      },
      words: ["key", "import", "new", "--passphrase-file", "@/in/file-phrase"], input: keyFile),
    Self(
      verb: "key sign", variant: "logged",
      before: { try $0.run(["key", "generate", "new", "--audit", "all"]) },
      words: ["key", "sign", "new"], input: "Pay 12 EUR to Anna"),
    Self(
      verb: "jwt sign", variant: "logged",
      before: { try $0.run(["key", "generate", "new", "--audit", "all"]) },
      words: ["jwt", "sign", "new"], input: "{\"iss\":\"shop\",\"exp\":4102444800}"),
    Self(
      verb: "jwt dpop", variant: "logged",
      before: { home in
        try home.run(["key", "generate", "new", "--audit", "all"])
        try home.write("in/token", "Kz~8mXK1EalYznwH-LC-1fBAo")
      },
      words: [
        "jwt", "dpop", "new", "--method", "GET", "--url", "https://a.example/cards", "--token-file",
        "@/in/token",
      ]),
    Self(
      verb: "key rm", before: { try $0.run(["key", "generate", "new", "--type", "ed25519"]) },
      words: ["key", "rm", "new"]),
  ]

  /// A key of P-256 behind the passphrase `correct horse`.
  private static let keyFile = """
    -----BEGIN ENCRYPTED PRIVATE KEY-----
    MIH0MF8GCSqGSIb3DQEFDTBSMDEGCSqGSIb3DQEFDDAkBBA4QZXxUgzhbacd605r
    akdtAgIIADAMBggqhkiG9w0CCQUAMB0GCWCGSAFlAwQBKgQQOQnfxKefU0yGPv0m
    DlrtfwSBkLjFVS7cwWId8pp3Px5yoIPUiJH8Pu8vNojW6czKTICh/QpQv+3YiJ6Y
    ZPoSjFvNeT94PD6svsmjKCbbyHW8m8eu8bFdzaw0d1n5f5xd4iFOBMrOWNS6A8H3
    dqssm9uBbqmiJ0Cv0KqPByX81vQcy/fqiPQT5vr1zJmgmarIKi6okcBImUlcUOBn
    6fYCeMklHw==
    -----END ENCRYPTED PRIVATE KEY-----
    """

  private static let cards = [
    Self(verb: "card put", words: ["card", "put", "card", "--ttl", "1h"], input: secrets["first"]!),
    Self(
      verb: "card put", variant: "of a session, behind a passcode", start: .locked,
      before: { try $0.write("in/session", session) },
      words: ["card", "put", "card", "--ttl", "1h"] + sessionOption + passcodeOption,
      input: secrets["first"]!),
    Self(
      verb: "card get", before: { try $0.putToken(uses: 2) },
      words: ["card", "get", "card"] + sessionOption),
    Self(
      verb: "card get", variant: "for the last time", before: { try $0.putToken() },
      words: ["card", "get", "card"] + sessionOption),
    Self(verb: "card revoke", before: { try $0.putToken() }, words: ["card", "revoke", "card"]),
    Self(
      verb: "card clear",
      before: { home in
        try home.stopClock()
        try home.putToken(life: "1s")
        home.advanceClock(by: 2)
      }, words: ["card", "clear"], commitsOften: true),
    Self(
      verb: "card session close", before: { try $0.putToken() },
      words: ["card", "session", "close"] + sessionOption),
    Self(
      verb: "card consent request", before: { try $0.addServer() },
      words: ["card", "consent", "request", "view", "--user", "u-17", "--card", "c-4"] + transportOption),
    Self(
      verb: "card consent confirm", before: { try $0.requestConsent() },
      words: ["card", "consent", "confirm", "view"] + codeOptions, commitsOften: true),
    Self(
      verb: "card consent resend", before: { try $0.requestConsent() },
      words: ["card", "consent", "resend", "view"] + transportOption),
  ]

  private static let clients = [
    Self(
      verb: "oauth register", before: { try $0.addServer() },
      words: [
        "oauth", "register", "shop", "--template", "t1", "--url", "https://as.example", "--redirect-uri",
        "https://shop.example/back",
      ] + transportOption),
    Self(
      verb: "oauth token", before: { try $0.registerClient() },
      words: ["oauth", "token", "shop", "--grant", "authorization_code", "--code-fd", "0"] + transportOption,
      input: Torture.ScenarioHome.code),
    Self(
      verb: "oauth token", variant: "bound to a key, in the place of others",
      before: { try $0.bindTokens() },
      words: ["oauth", "token", "shop", "--grant", "client_credentials", "--dpop", "k1"] + transportOption),
    Self(
      verb: "oauth device", before: { try $0.registerClient() },
      words: ["oauth", "device", "shop"] + transportOption),
    Self(
      verb: "oauth refresh", before: { try $0.authorizeClient() },
      words: ["oauth", "refresh", "shop"] + transportOption),
    Self(
      verb: "oauth revoke", before: { try $0.authorizeClient() },
      words: ["oauth", "revoke", "shop"] + transportOption),
    Self(
      verb: "oauth authorize-header", variant: "of a bound token, with a nonce",
      before: { try $0.bindTokens() },
      words: [
        "oauth", "authorize-header", "shop", "--method", "GET", "--url", "https://api.example/orders",
        "--nonce", "n-1",
      ]),
    Self(
      verb: "rm", variant: "of a client with its tokens", before: { try $0.authorizeClient() },
      words: ["rm", "shop"]),
  ]

  static let session = String(repeating: "5e", count: 32)
  private static let sessionOption = ["--session-file", "@/in/session"]

  private static let transfer = [
    Self(
      verb: "import", words: ["import", "jsonl"],
      input: """
        {"kind":"password","name":"one","secret":"\(secrets["first"]!)"}
        {"kind":"password","name":"two","secret":"\(secrets["new"]!)"}

        """),
    Self(verb: "export", words: ["export", "jsonl", "@/out/items.jsonl", "--plain"], product: .export),
    Self(
      verb: "export", variant: "behind a passcode", start: .locked,
      words: ["export", "jsonl", "@/out/items.jsonl", "--plain", "--no-input"] + passcodeOption,
      product: .export),
    Self(verb: "backup", words: ["backup", "@/out/b.vault"] + phraseOption, product: .backup),
    Self(
      verb: "backup", variant: "behind a passcode", start: .locked,
      words: ["backup", "@/out/b.vault"] + phraseOption + passcodeOption, product: .backup),
    Self(verb: "backup", variant: "to standard output", words: ["backup", "-"] + phraseOption),
    Self(
      verb: "restore", variant: "over nothing", start: .nothing,
      words: ["restore", "@/in/backup.vault"] + phraseOption),
    Self(
      verb: "restore", variant: "over nothing, by a link to a backup that others can read", start: .nothing,
      before: { home in
        let path = home.folder + "/in/backup.vault"
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        try FileManager.default.createSymbolicLink(
          atPath: home.folder + "/in/link", withDestinationPath: "backup.vault")
      }, words: ["restore", "@/in/link"] + phraseOption),
    Self(verb: "restore", variant: "over a vault", words: overVault, needsVaultAlone: true),
    Self(
      verb: "restore", variant: "over a vault whose passcode is shown", start: .locked,
      words: overVault + passcodeOption, needsVaultAlone: true),
    Self(
      verb: "restore", variant: "over a vault, key in a named file", hasNamedKey: true, words: overVault,
      needsVaultAlone: true),
  ]

  private static let overVault = ["restore", "@/in/backup.vault"] + phraseOption + Torture.replaceOption

  private static let keys = [
    Self(verb: "vault rotate device-key", words: ["vault", "rotate", "device-key"]),
    Self(
      verb: "vault rotate device-key", variant: "key in a named file", hasNamedKey: true,
      words: ["vault", "rotate", "device-key"]),
    Self(
      verb: "vault rotate device-key", variant: "by the recovery code", start: .locked,
      before: { home in for key in try home.keyFiles() { try home.remove(key) } },
      words: ["vault", "rotate", "device-key", "--recovery-file", "@/in/code"], isWithoutKey: true),
    Self(verb: "vault rotate epoch", words: ["vault", "rotate", "epoch"], commitsOften: true),
    Self(
      verb: "vault rotate epoch", variant: "behind a passcode", start: .locked,
      words: ["vault", "rotate", "epoch"] + passcodeOption, commitsOften: true),
    Self(verb: "recovery-code new", words: ["recovery-code", "new", "--out", "@/out/code"]),
    Self(
      verb: "recovery-code new", variant: "behind a passcode", start: .locked,
      words: ["recovery-code", "new", "--out", "@/out/code"] + passcodeOption),
    Self(
      verb: "recovery-code remove", start: .locked, words: ["recovery-code", "remove"] + passcodeOption),
    Self(
      verb: "vault rotate parameters", start: .locked,
      words: ["vault", "rotate", "parameters", "--target", "50"] + passcodeOption),
    Self(verb: "vault purge", words: ["vault", "purge"], commitsOften: true, needsVaultAlone: true),
    Self(
      verb: "vault purge", variant: "behind a passcode", start: .locked,
      words: ["vault", "purge"] + passcodeOption,
      commitsOften: true, needsVaultAlone: true),
  ]

  /// What must not be in clear anywhere; an item's name represents its secret.
  static let secrets = [
    "old": "canary of the old secret jv83k1", "kept": "canary of the kept secret p20xne",
    "logged": "canary of the logged secret q77dm", "late": "canary of the late secret z61rta",
    "new": "canary of the new secret c90hwu", "changed": "canary of the changed secret m5",
    "first": "canary of the first secret e4gb8", "bound": "canary of the bound secret w3nny",
    "tokens": "canary-of-the-oauth-tokens-h5c0tqm2xw8r",
    "service": "canary-of-a-service-k2pqs9.example", "account": "canary-of-an-account-x8vvd",
  ]
}
