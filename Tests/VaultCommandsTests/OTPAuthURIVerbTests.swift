import Foundation
import TestSupport
import Testing

/// URIs of other programs, in by `otp add` and `import`, and out for other programs by `otp export`.
@Suite("otpauth URIs at the command line", .bounded)
struct OTPAuthURIVerbTests {
  private static let key = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
  private static let head = "otpauth://totp/x?secret=\(key)"

  private func newTool() throws -> Tool {
    let tool = try Tool()
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    return tool
  }

  private func line(_ name: String, _ uri: String) -> [UInt8] {
    Array((#"{"kind":"otp","name":"\#(name)","uri":"\#(uri)"}"# + "\n").utf8)
  }

  /// Verified to fail when `&amp;` begins a parameter of another name, and when unknown parameters are left out.
  @Test("an escaped ampersand gives the codes that the service means, added and imported")
  func escapedAmpersands() throws {
    let tool = try newTool()
    for (name, separator) in [("a", "&amp;"), ("b", "&#38;")] {
      let uri = Self.head + separator + "digits=8"
      let added = try tool("otp", "add", name, input: Array(uri.utf8))
      #expect(added.exit == 0 && added.errors.isEmpty, "\(added.errors)")
      try expect(tool("code", name, "--at", "59").text, equals: "94287082\n")
      let imported = try tool("import", "jsonl", input: line(name + "i", uri))
      #expect(imported.exit == 0 && imported.errors.isEmpty, "\(imported.errors)")
      try expect(tool("code", name + "i", "--at", "59").text, equals: "94287082\n")
    }
  }

  @Test("an unknown parameter refuses the credential and is named, added, imported, as JSON and in a dry run")
  func unknownParameter() throws {
    let tool = try newTool()
    let uri = Self.head + "&digit=8"
    let said = "its parameter 'digit' is unknown, and could change the codes"
    let added = try tool("otp", "add", "a", input: Array(uri.utf8))
    #expect(added.exit == 12 && added.errors.contains(said), "\(added.errors)")
    for words in [[], ["--json"], ["--dry-run"]] {
      let good = line("good", Self.head + "&digits=8")
      let run = try tool.run(["import", "jsonl"] + words, input: good + line("bad", uri))
      #expect(run.exit == 12 && run.errors.contains("line 2") && run.errors.contains(said), "\(run.errors)")
    }
    let unnamed = try tool("otp", "add", "a", input: Array((Self.head + "&MFRGGZDF").utf8))
    #expect(
      unnamed.exit == 12 && unnamed.errors.contains("of 8 characters") && !unnamed.errors.contains("MFRG"))
    try expect(tool("otp", "list").text, equals: "")
  }

  @Test("parameters of the display are named and left out, added and imported")
  func harmlessParameters() throws {
    let tool = try newTool()
    let uri = Self.head + "&image=https%3A%2F%2Fx%2Fy.png&lock=true&period="
    let added = try tool("otp", "add", "a", input: Array(uri.utf8))
    #expect(added.exit == 0 && added.errors.contains("'image', 'lock'"), "\(added.errors)")
    #expect(added.errors.contains("so its default counts: 'period'"), "\(added.errors)")
    let told = try tool("otp", "add", "b", "--json", input: Array(uri.utf8)).json["warnings"] as? [String]
    expect(told?.count, equals: 2)
    let imported = try tool("import", "jsonl", "--json", input: line("c", uri))
    let items = try #require(try imported.json["items"] as? [[String: Any]])
    expect((items[0]["warnings"] as? [String])?.count, equals: 2)
  }

  /// Verified to fail when doctor leaves them out.
  @Test("a weak credential needs --allow-weak, and lists and doctor name it")
  func weak() throws {
    let tool = try newTool()
    let weak = [
      ("short", "otpauth://totp/x?secret=MY3DQZRR", "a secret of 40 bits"),
      ("few", Self.head + "&digits=5", "codes of 5 digits"),
    ]
    for (name, uri, words) in weak {
      let refused = try tool("otp", "add", name, input: Array(uri.utf8))
      #expect(refused.exit == 12 && refused.errors.contains("--allow-weak"), "\(refused.errors)")
      let refusedLine = try tool("import", "jsonl", input: line(name, uri))
      #expect(refusedLine.exit == 12 && refusedLine.errors.contains("--allow-weak"), "\(refusedLine.errors)")
      let added = try tool("otp", "add", name, "--allow-weak", input: Array(uri.utf8))
      #expect(added.exit == 0 && added.errors.contains("only"), "\(added.errors)")
      try expect(tool("import", "jsonl", "--allow-weak", input: line(name + "i", uri)).exit, equals: 0)
      for name in [name, name + "i"] {
        try expect(tool("otp", "show", name, "--json").json["weak"] as? String, equals: words)
        #expect(try tool("otp", "list").text.contains("weak: \(words)"))
        #expect(try tool("vault", "doctor").text.contains("the credential '\(name)' has \(words)"))
      }
    }
    try expect(tool("code", "few", "--at", "59").text, equals: "87082\n")
    let suite = ["--suite", "OCRA-1:HOTP-SHA1-6:Q", "--secret-format", "hex"]
    try expect(tool.run(["otp", "add", "signer"] + suite, input: Array("0102".utf8)).exit, equals: 12)
    let signer = try tool.run(["otp", "add", "signer", "--allow-weak"] + suite, input: Array("0102".utf8))
    #expect(signer.exit == 0 && signer.errors.contains("16 bits only"), "\(signer.errors)")
    #expect(try tool("vault", "doctor").text.contains("'signer' has a secret of 16 bits"))
    try expect(tool("otp", "add", "strong", input: Array(Self.head.utf8)).exit, equals: 0)
    #expect(try !tool("vault", "doctor").text.contains("'strong'"))

    let other = try newTool()
    let lines = try tool("export", "jsonl", "--plain").output
    try expect(other("import", "jsonl", input: lines).exit, equals: 12)
    try expect(other("import", "jsonl", "--allow-weak", input: lines).exit, equals: 0)
    try expect(
      other("otp", "show", "signer", "--json").json["weak"] as? String, equals: "a secret of 16 bits")
    try expect(other("code", "few", "--at", "59").text, equals: "87082\n")
  }

  @Test("a number of digits, and an algorithm, that no option allows send to another program")
  func otherPrograms() throws {
    let tool = try newTool()
    for parameter in ["digits=10", "algorithm=MD5"] {
      let run = try tool("otp", "add", "a", "--allow-weak", input: Array("\(Self.head)&\(parameter)".utf8))
      #expect(run.exit == 12 && run.errors.contains("another program"), "\(run.errors)")
    }
  }

  // MARK: Other programs

  /// What is added, and its issuer and account.
  private struct Credential {
    let uri: String
    let issuer: String?
    let account: String

    init(
      _ label: String, _ issuer: String?, _ account: String, _ parameters: String = "", type: String = "totp"
    ) {
      uri = "otpauth://\(type)/\(label)?secret=\(OTPAuthURIVerbTests.key)\(parameters)"
      (self.issuer, self.account) = (issuer, account)
    }
  }

  /// Verified to fail when a label has an empty issuer before the account, and when it has another issuer than the parameter.
  @Test("each export is read by pyotp with its names, and pyotp and oathtool make its codes")
  func readers() throws {
    let credentials = [
      Credential("Test%3A%20Foo%3AUser", "Test: Foo", "User", "&issuer=Test%3A%20Foo&digits=8"),
      Credential("Big%3ACorp:anna@x", "Big:Corp", "anna@x"), Credential("Big:Corp:anna", "Big", "Corp:anna"),
      Credential("anna@x", nil, "anna@x", "&digits=7"),
      Credential("anna%40x", "Big", "anna@x", "&issuer=Big"),
      Credential("Other:anna", "Big", "anna", "&issuer=Big&algorithm=SHA256&period=60"),
      Credential(":anna%3Ab", nil, "anna:b"), Credential("Big%3A%20anna", "Big", "anna"),
      Credential("B%C3%BCcher%20GmbH:j%C3%B6rg", "Bücher GmbH", "jörg", "&algorithm=SHA512"),
      Credential("A:b", "A", "b", "&counter=7", type: "hotp"),
    ]
    try expectRead(credentials, environment: ["PATH": "/usr/bin:/bin"])
  }

  @Test("names with colons in both and with the characters of a URI are read by a newer pyotp")
  func newerReaders() throws {
    guard let directory = ProcessInfo.processInfo.environment["VAULT_PYOTP"] else {
      try skip(.newerPyotp, "names that Debian's pyotp misreads")
    }
    let credentials = [
      Credential("A%3AB:c%3Ad", "A:B", "c:d"), Credential("A%3AB:c:d", "A:B", "c:d", "&issuer=A%3AB"),
      Credential("AT%26T:a%23b%3F", "AT&T", "a#b?"), Credential("100%25:a+b@c%2Fd", "100%", "a+b@c/d"),
    ]
    try expectRead(credentials, environment: ["PATH": "/usr/bin:/bin", "PYTHONPATH": directory])
  }

  private func expectRead(_ credentials: [Credential], environment: [String: String]) throws {
    try Shell.need("oathtool")
    let tool = try newTool()
    for (index, credential) in credentials.enumerated() {
      let added = try tool("otp", "add", "n\(index)", input: Array(credential.uri.utf8))
      expect(added.exit, equals: 0, "\(credential.uri): \(added.errors)")
      let exported = try Scratch(tool("otp", "export", "n\(index)").output)
      let run = try Program(Self.script, environment: environment)
        .run(input: FileHandle(fileDescriptor: exported.descriptor))
      let read = try #require(
        try? JSONSerialization.jsonObject(with: run.output) as? [String: Any],
        "\(credential.uri): \(run.text)")
      expect(read["issuer"] as? String, equals: credential.issuer, "\(credential.uri)")
      expect(read["account"] as? String, equals: credential.account, "\(credential.uri)")
      let moment = credential.uri.hasPrefix("otpauth://hotp") ? [] : ["--at", "59"]
      let code = try tool.run(["code", "n\(index)"] + moment).text
      expect((read["pyotp"] as? String).map { $0 + "\n" }, equals: code, "\(credential.uri)")
      expect((read["oathtool"] as? String).map { $0 + "\n" }, equals: code, "\(credential.uri)")
    }
  }

  private static let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Peers/otpauth").path
}
