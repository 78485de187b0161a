import Foundation
import TestSupport
import Testing

@Suite("Client keys at the command line", .bounded, .requirement("D5", "D7"))
struct KeyVerbTests {
  private static let vectors = Tool.repository.appendingPathComponent("Tests/Vectors/key-files")

  private func newTool(_ words: String...) throws -> Tool {
    let tool = try Tool()
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    if !words.isEmpty { try expect(tool.run(words).exit, equals: 0) }
    return tool
  }

  private func file(_ name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: Self.vectors.appendingPathComponent(name)))
  }

  /// Runs openssl, and says whether it agrees.
  private func openssl(_ words: String..., in tool: Tool) throws -> Bool {
    try Program("openssl", words, in: tool.home).run(errors: .discarded).status == 0
  }

  private func write(_ run: Tool.Run, to name: String, in tool: Tool) throws {
    expect(run.exit, equals: 0, "\(run.errors)")
    try Data(run.output).write(to: tool.home.appendingPathComponent(name))
  }

  @Test(
    "a key of each type signs, verifies, is listed and removed",
    arguments: ["p256", "p384", "ed25519", "rsa2048"])
  func life(type: String) throws {
    let tool = try newTool()
    let made = try tool("key", "generate", "shop", "--type", type, "--json")
    #expect(
      try made.exit == 0 && made.json["type"] as? String == type && made.json["exportable"] as? Bool == false)
    let listed = try #require(try tool("key", "list", "--json").json["items"] as? [[String: Any]])
    #expect(try listed.count == 1 && listed[0]["pin"] as? String == made.json["pin"] as? String)
    #expect(try tool("key", "list").text.hasPrefix("shop  \(type)"))
    for format in ["base64", "raw", "der"] {
      let signed = try tool("key", "sign", "shop", "--format", format, input: Array("12 EUR".utf8))
      try write(signed, to: "signature", in: tool)
      let words = [
        "key", "verify", "shop", "--signature-file", tool.home.path + "/signature", "--format", format,
      ]
      try expect(tool.run(words, input: Array("12 EUR".utf8)).text, equals: "valid\n")
      let other = try tool.run(words, input: Array("92 EUR".utf8))
      #expect(other.exit == 3 && other.output.isEmpty)
    }
    try expect(tool("key", "rm", "shop").exit, equals: 0)
    try expect(tool("key", "sign", "shop").exit, equals: 1)
    try expect(tool("key", "list", "--json").text, equals: "{\"items\":[]}\n")
  }

  @Test("openssl verifies our signatures, and we verify its", arguments: ["p256", "p384", "rsa3072"])
  func others(type: String) throws {
    try Shell.need("openssl")
    let tool = try newTool()
    try expect(tool("key", "import", "shop", input: file("\(type).pkcs8.pem")).exit, equals: 0)
    try write(tool("key", "public", "shop"), to: "public.pem", in: tool)
    try write(
      tool("key", "sign", "shop", "--format", "der", input: Array("12 EUR".utf8)), to: "ours", in: tool)
    try Data("12 EUR".utf8).write(to: tool.home.appendingPathComponent("data"))
    let hash = type == "p384" ? "-sha384" : "-sha256"
    #expect(try openssl("dgst", hash, "-verify", "public.pem", "-signature", "ours", "data", in: tool))
    let key = Self.vectors.appendingPathComponent("\(type).pkcs8.pem").path
    #expect(try openssl("dgst", hash, "-sign", key, "-out", "theirs", "data", in: tool))
    let verified = try tool(
      "key", "verify", "shop", "--signature-file", tool.home.path + "/theirs", "--format", "der",
      input: Array("12 EUR".utf8))
    expect(verified.exit, equals: 0, "\(verified.errors)")
  }

  @Test("a file of PKCS#12 gives key and certificates, with its passphrase alone")
  func pkcs12() throws {
    let tool = try newTool()
    let bytes = try file("p256.chain.p12")
    let wrong = try tool(
      "key", "import", "tls", "--passphrase-fd", "3", input: bytes, secrets: [3: "correct pony"])
    #expect(wrong.exit == 3 && wrong.errors.split(separator: "\n").count == 1)
    let unasked = try tool("key", "import", "tls", "--no-input", input: bytes)
    #expect(unasked.exit == 6 && unasked.errors.contains("--passphrase-fd"))
    let made = try tool(
      "key", "import", "tls", "--passphrase-fd", "3", "--json", input: bytes, secrets: [3: "correct horse\n"])
    #expect(try made.exit == 0 && made.json["certificates"] as? Int == 3, "\(made.errors)")
    let chain = try tool("key", "public", "tls", "--format", "certificates")
    expect(chain.text.components(separatedBy: "BEGIN CERTIFICATE").count, equals: 4)
    try write(chain, to: "chain.pem", in: tool)
    if Shell.has("openssl") { #expect(try openssl("x509", "-in", "chain.pem", "-noout", in: tool)) }
    let again = try tool("key", "import", "other", input: file("p256.pkcs8.pem"))
    expect(again.exit, equals: 8, "the same key under another name: \(again.errors)")
    try expect(tool("key", "generate", "plain").exit, equals: 0)
    try expect(tool("key", "public", "plain", "--format", "certificates").exit, equals: 1)
  }

  /// Verified to fail when a passphrase is asked for before an empty one is tried.
  @Test(
    "PKCS#12 under an empty passphrase opens without one",
    arguments: [
      "p256.empty-passphrase.p12", "p256.empty-passphrase-3des.p12", "p256.nothing-as-passphrase.p12",
    ])
  func emptyPassphrase(name: String) throws {
    let tool = try newTool()
    let run = try tool("key", "import", "tls", "--no-input", input: file(name))
    expect(run.exit, equals: 0, "\(run.errors)")
    let other = try tool("key", "import", "x", "--passphrase-fd", "3", input: file(name), secrets: [3: "x"])
    expect(other.exit, equals: 3, "\(other.errors)")
  }

  @Test(
    "PEM that is encrypted in the old way, and PKCS#12 of too many iterations, are refused before a question")
  func refusedUnasked() throws {
    let tool = try newTool()
    for (name, exit) in [
      ("old-pem.encrypted.pem", 15), ("billion-iterations-of-the-mac.p12", 9), ("without-mac.p12", 9),
    ] as [(String, Int32)] {
      try expect(tool("key", "import", "x", "--no-input", input: file(name)).exit, equals: exit, "\(name)")
    }
  }

  /// The bounds and the reasons are those of `AuthenticatorKitTests.KeyFileTests`; here they have their exit codes.
  @Test(
    "a file that is refused says why in one line, and stores nothing",
    arguments: [
      ("rc2.p12", 15), ("three-keys.p12", 12), ("no-key.p12", 12), ("billion-iterations-of-the-mac.p12", 9),
      ("truncated.p12", 12), ("without-mac.p12", 9), ("rsa1024.pkcs8.der", 15),
      ("rsa2048.exponent-1.der", 15),
      ("p256.point-off-the-curve.der", 12), ("bcrypt.openssh", 15), ("text", 12), ("empty", 12),
    ] as [(String, Int32)])
  func refused(name: String, exit: Int32) throws {
    let tool = try newTool()
    let run = try tool(
      "key", "import", "x", "--passphrase-fd", "3", input: file(name), secrets: [3: "correct horse"])
    #expect(run.exit == exit && run.output.isEmpty, "\(run.errors)")
    #expect(run.errors.hasPrefix("vaultctl: ") && run.errors.split(separator: "\n").count <= 2)
    try expect(tool("ls", "--json").text, equals: "{\"items\":[]}\n")
  }

  @Test("the private key of a key is printed only if it was made so")
  func exportable() throws {
    let tool = try newTool("key", "generate", "fixed")
    let refused = try tool("get", "fixed")
    #expect(refused.exit == 9 && refused.output.isEmpty && refused.errors.contains("key sign"))
    for words in [["--fd", "5=fixed"], ["--file", "F=fixed"], ["--env", "V=fixed"]] {
      let started = try tool.run(["run"] + words + ["--", "echo", "started"])
      #expect(started.exit == 9 && started.output.isEmpty, "\(words)")
    }
    let exported = try tool("export", "jsonl", "--plain")
    #expect(exported.output.isEmpty && exported.errors.contains("left out 'fixed'"))
    try expect(tool("key", "generate", "open", "--type", "rsa2048", "--exportable").exit, equals: 0)
    try write(tool("get", "open"), to: "key.der", in: tool)
    try Shell.need("openssl")
    #expect(try openssl("pkey", "-inform", "DER", "-in", "key.der", "-check", "-noout", in: tool))
  }

  @Test("a locked vault shows and verifies, and asks for the passcode before it signs")
  func locked() throws {
    let tool = try Tool()
    try expect(tool("init", "--passcode-fd", "3", secrets: [3: "pass"]).exit, equals: 0)
    try expect(tool("key", "generate", "shop", "--passcode-fd", "3", secrets: [3: "pass"]).exit, equals: 0)
    for format in ["pem", "jwk", "ssh", "pin"] {
      try expect(tool("key", "public", "shop", "--format", format, "--no-input").exit, equals: 0)
    }
    try expect(tool("key", "sign", "shop", "--no-input", input: [1]).exit, equals: 6)
    try write(
      tool("key", "sign", "shop", "--passcode-fd", "3", input: [1], secrets: [3: "pass"]), to: "s", in: tool)
    try expect(
      tool("key", "verify", "shop", "--signature-file", tool.home.path + "/s", "--no-input", input: [1])
        .exit, equals: 0)
  }

  @Test("a signature that is missing or not what --format says is told apart from a wrong one")
  func signatures() throws {
    let tool = try newTool("key", "generate", "shop")
    let path = try tool.file("s", "not base64!")
    try expect(tool("key", "verify", "shop", input: [1]).exit, equals: 2)
    try expect(tool("key", "verify", "shop", "--signature-file", "/nonexistent", input: [1]).exit, equals: 13)
    try expect(tool("key", "verify", "shop", "--signature-file", path, input: [1]).exit, equals: 12)
    try expect(
      tool("key", "verify", "shop", "--signature-file", path, "--format", "raw", input: [1]).exit, equals: 3)
    try expect(tool("add", "mail", "--generate", "24").exit, equals: 0)
    try expect(tool("key", "public", "mail").exit, equals: 1)
  }
}
