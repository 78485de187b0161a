import Foundation
import TestSupport
import Testing

@Suite("Signing questions at the command line", .bounded, .requirement("A16"))
struct TransactionVerbTests {
  private static let key = "3132333435363738393031323334353637383930"

  private func newTool() throws -> Tool {
    let tool = try Tool()
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    return tool
  }

  private func add(
    _ tool: Tool, _ name: String, _ suite: String, role: String = "prover", key: String = Self.key
  ) throws {
    let run = try tool(
      "otp", "add", name, "--suite", suite, "--secret-format", "hex", "--role", role, input: Array(key.utf8))
    expect(run.exit, equals: 0, "\(run.errors)")
  }

  @Test("a challenge is answered with the code of RFC 6287, and as JSON")
  func challenge() throws {
    let tool = try newTool()
    try add(tool, "c1", "OCRA-1:HOTP-SHA1-6:QN08")
    let run = try tool("transaction", "sign", "c1", "--question", "00000000")
    #expect(run.text == "237653\n" && run.errors.isEmpty)
    let json = try tool("transaction", "sign", "c1", "--question", "00000000", "--json").text
    #expect(
      json == #"{"name":"c1","type":"ocra","suite":"OCRA-1:HOTP-SHA1-6:QN08","code":"237653"}"# + "\n")
    try expect(tool("transaction", "sign", "c1", input: Array("00000000".utf8)).text, equals: "237653\n")
  }

  /// Verified to fail when the counter is read and not moved, and when data is cut to its first 17 bytes.
  @Test("data of any length is signed as its SHA-256, and each counter signs once", .requirement("B7"))
  func data() throws {
    let tool = try newTool()
    try add(tool, "bank", "OCRA-1:HOTP-SHA256-8:C-QH64")
    try add(tool, "gate", "OCRA-1:HOTP-SHA256-8:C-QH64", role: "verifier")
    func sign(_ text: String) throws -> String {
      let run = try tool("transaction", "sign", "bank", "--json", input: Array(text.utf8))
      expect(run.exit, equals: 0, "\(run.errors)")
      return try #require(try run.json["code"] as? String)
    }
    func verify(_ text: String, _ code: String) throws -> Tool.Run {
      try tool(
        "transaction", "verify", "gate", "--code-fd", "3", "--json", input: Array(text.utf8),
        secrets: [3: code])
    }
    let first = try sign("Pay 12 EUR to Anna")
    let second = try sign("Pay 12 EUR to Anna")
    #expect(first != second && first.count == 8)
    try expect(tool("otp", "counter", "bank").text, equals: "2\n")
    let accepted = try verify("Pay 12 EUR to Anna", second)
    #expect(accepted.text == #"{"name":"gate","accepted":true,"counter":1,"distance":1}"# + "\n")
    try expect(verify("Pay 12 EUR to Anna", second).exit, equals: 3)
    let third = try sign("Pay 12 EUR to Anna")
    try expect(verify("Pay 12 EUR to Anna\n", third).exit, equals: 3)
    try expect(verify("Pay 12 EUR to Anna", third).exit, equals: 4)
  }

  @Test("with a question, the code comes on standard input or by its own channel")
  func code() throws {
    let tool = try newTool()
    try add(tool, "gate", "OCRA-1:HOTP-SHA1-6:QN08", role: "verifier")
    let words = ["transaction", "verify", "gate", "--question", "00000000"]
    try expect(tool.run(words, input: Array("237653\n".utf8)).text, equals: "accepted\n")
    try expect(tool.run(words + ["--code-fd", "3"], secrets: [3: "237653"]).text, equals: "accepted\n")
    #expect(
      try tool.run(words + ["--json"], input: Array("237653".utf8)).text
        == #"{"name":"gate","accepted":true}"# + "\n")
    try expect(tool.run(words, input: Array("23765".utf8)).exit, equals: 12)
    try expect(tool.run(words, input: Array("237654".utf8)).exit, equals: 3)
    try expect(tool("transaction", "sign", "gate", "--question", "00000000").exit, equals: 9)
    try expect(tool("transaction", "verify", "gate", input: Array("00000000".utf8)).exit, equals: 6)
  }

  @Test("raw secrets are taken byte for byte, the others without one newline at the end")
  func formats() throws {
    let tool = try newTool()
    let secret = Array("12345678901234567890".utf8)
    let suite = ["--suite", "OCRA-1:HOTP-SHA1-6:QN08", "--secret-format"]
    let inputs: [(String, [UInt8], String)] = [
      ("hex", Array((Self.key + "\n").utf8), "237653"), ("hex", Array(Self.key.utf8), "237653"),
      ("base32", Array("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ\n".utf8), "237653"), ("raw", secret, "237653"),
      ("raw", secret + [10], ""),
    ]
    for (index, (format, input, code)) in inputs.enumerated() {
      let run = try tool.run(["otp", "add", "n\(index)"] + suite + [format], input: input)
      expect(run.exit, equals: 0, "\(run.errors)")
      let signed = try tool("transaction", "sign", "n\(index)", "--question", "00000000").text
      #expect(code.isEmpty ? signed != "237653\n" : signed == code + "\n")
    }
  }

  @Test("verbs say the suite, and those for other credentials refuse with a hint")
  func shown() throws {
    let tool = try newTool()
    let suite = "OCRA-1:HOTP-SHA256-8:C-QH64"
    try add(tool, "bank", suite)
    for words in [["otp", "list"], ["otp", "show", "bank"], ["show", "bank"], ["ls"]] {
      #expect(try tool.run(words).text.contains(suite), "\(words)")
      #expect(
        try tool.run(words + ["--json"]).text.contains(#""type":"ocra","role":"prover","suite":"\#(suite)""#))
    }
    try expect(tool("otp", "show", "bank", "--json").json["counter"] as? Int, equals: 0)
    try expect(tool("otp", "counter", "bank", "--set", "5").text, equals: "5\n")
    for (words, hint) in [
      (["code", "bank"], "transaction sign"), (["otp", "verify", "bank"], "transaction verify"),
      (["otp", "export", "bank"], "export jsonl"), (["get", "bank"], "otp"),
    ] {
      let run = try tool.run(words, input: Array("123456".utf8))
      #expect(run.exit == 9 && run.errors.contains(hint) && run.text.isEmpty, "\(words): \(run.errors)")
    }
    try expect(
      tool(
        "otp", "add", "plain",
        input: Array("otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0".utf8)
      ).exit, equals: 0)
    let refused = try tool("transaction", "sign", "plain", "--question", "1")
    #expect(refused.exit == 9 && refused.errors.contains("otp add --suite"))
  }

  @Test("an export has suite and counter, and its import signs on with the next counter")
  func lines() throws {
    let (tool, other) = (try newTool(), try newTool())
    try add(tool, "bank", "OCRA-1:HOTP-SHA256-8:C-QH64")
    try add(tool, "gate", "OCRA-1:HOTP-SHA1-6:QN08", role: "verifier")
    try expect(tool("otp", "counter", "bank", "--set", "18446744073709551615").exit, equals: 0)
    let exported = try tool("export", "jsonl", "--plain")
    #expect(exported.text.contains(#""suite":"OCRA-1:HOTP-SHA256-8:C-QH64","counter":18446744073709551615"#))
    let imported = try other("import", "jsonl", input: exported.output)
    expect(imported.exit, equals: 0, "\(imported.errors)")
    let data = Array("x".utf8)
    try expect(
      other("transaction", "sign", "bank", input: data).text,
      equals: tool("transaction", "sign", "bank", input: data).text)
    try expect(other("transaction", "sign", "bank", input: data).exit, equals: 7)
    let words = ["transaction", "verify", "gate", "--question", "00000000"]
    try expect(other.run(words, input: Array("237653".utf8)).exit, equals: 0)
    for line in [
      #""suite":"OCRA-1:HOTP-SHA1-6:QN08","uri":"otpauth://hotp/x""#,
      #""suite":"ocra","secret":"1234567890""#,
      #""suite":"OCRA-1:HOTP-SHA1-6:QN08","secret":"1234567890","counter":1"#,
      #""suite":"OCRA-1:HOTP-SHA1-6:C-QN08","secret":"1234567890","counter":18446744073709551616"#,
      #""suite":"OCRA-1:HOTP-SHA1-6:QN08-T0H","secret":"1234567890""#,
      #""suite":"OCRA-1:HOTP-SHA1-6:QN08","secret":"short""#,
    ] {
      let run = try other("import", "jsonl", input: Array(#"{"kind":"otp","name":"n",\#(line)}"#.utf8))
      expect(run.exit, equals: 12, "\(line): \(run.errors)")
    }
  }

  // MARK: bad input

  /// All files of the vault and its keys.
  private func files(_ tool: Tool) throws -> [String: Data] {
    let folder = tool.home.path + "/.local"
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder)
    return Dictionary(
      uniqueKeysWithValues: names.compactMap { name in
        FileManager.default.contents(atPath: folder + "/" + name).map { (name, $0) }
      })
  }

  private func expectRefused(
    _ tool: Tool, _ words: [String], input: String = "", secrets: [Int32: String] = [:], exit: Int32,
    saying text: String = ""
  ) throws {
    let before = try files(tool)
    let run = try tool.run(words, input: Array(input.utf8), secrets: secrets)
    #expect(
      run.exit == exit && run.output.isEmpty && (text.isEmpty || run.errors.contains(text)),
      "\(words): \(run.exit) \(run.errors)")
    #expect(run.errors.split(separator: "\n").count <= 2)
    try expect(files(tool), equals: before, "\(words)")
  }

  @Test(
    "a suite that is none is refused where it is wrong, and nothing is stored",
    arguments: [
      "HOTP-SHA1-6:QN08", "OCRA-1:HOTP-SHA1-6", "OCRA-1:HOTP-SHA1:QN08", "OCRA-1:HOTP-SHA1-SHA256-6:QN08",
      "OCRA-1:HOTP-SHA1-6:QN08-S65536", "OCRA-1:HOTP-SHA1-6:QN08-T0S", "OCRA-1:HOTP-SHA1-6:QN08-T60H",
      "OCRA-1:HOTP-SHA1-6:QN08-T0H", "OCRA-1:HOTP-SHA1-6:QN08-T0M", "OCRA-1:HOTP-SHA1-6:QN03",
      "OCRA-1:HOTP-SHA1-6:QN65",
      "OCRA-1:HOTP-SHA1-3:QN08", "OCRA-1:HOTP-SHA1-11:QN08", "ocra-1:hotp-sha1-6:qn08", "",
      "OCRA-1:HOTP-SHA1-6:QN08\u{202E}", String(repeating: "OCRA-1:", count: 1000),
    ])
  func badSuites(suite: String) throws {
    let tool = try newTool()
    let words = ["otp", "add", "x", "--suite", suite, "--secret-format", "hex"]
    try expectRefused(tool, words, input: Self.key, exit: 12)
  }

  @Test("a secret that is none, and options that do not fit, are refused, and nothing is stored")
  func badSecrets() throws {
    let tool = try newTool()
    let suite = ["otp", "add", "x", "--suite", "OCRA-1:HOTP-SHA1-6:QN08"]
    for (format, input) in [
      ("hex", "123"), ("hex", "0x" + Self.key), ("hex", Self.key + "."), ("hex", ""), ("hex", "12 34"),
      ("hex", "313233343536373839"), ("base32", "GEZDGNBVGY3TQOJ1"), ("raw", "short"),
      ("raw", String(repeating: "x", count: 513)),
    ] { try expectRefused(tool, suite + ["--secret-format", format], input: input, exit: 12) }
    try expectRefused(tool, suite, input: Self.key, exit: 2)
    try expectRefused(tool, ["otp", "add", "x", "--secret-format", "hex"], input: Self.key, exit: 2)
  }

  /// Verified to fail when `S` alone is read as `S128`, and when any of the four is refused.
  @Test("Q, P, S and T alone have the defaults of RFC 6287, when added, signed with and verified")
  func defaults() throws {
    let tool = try newTool()
    let tiqr = "OCRA-1:HOTP-SHA1-6:QH10-S"
    try add(tool, "tiqr", tiqr, key: "3132333435363738393031323334353637383930313233343536373839303132")
    let session = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
    let words = ["--question", "0000000000", "--session", session, "--session-format", "hex"]
    try expect(tool.run(["transaction", "sign", "tiqr"] + words).text, equals: "525367\n")
    try expect(tool("otp", "show", "tiqr", "--json").json["suite"] as? String, equals: tiqr)

    let suite = "OCRA-1:HOTP-SHA256-8:C-Q-P-S-T"
    try add(tool, "bank", suite)
    try add(tool, "gate", suite, role: "verifier")
    try add(tool, "long", "OCRA-1:HOTP-SHA256-8:C-QN08-PSHA1-S064-T1M")
    func sign(_ name: String, _ question: String, _ session: String) throws -> Tool.Run {
      try tool(
        "transaction", "sign", name, "--question", question, "--session", session, "--suite-pin-fd", "3",
        secrets: [3: "1234"])
    }
    let most = String(repeating: "s", count: 64)
    try expect(sign("bank", "123456789", most).exit, equals: 12)
    try expect(sign("bank", "1234567a", most).exit, equals: 12)
    try expect(sign("bank", "12345678", most + "s").exit, equals: 12)
    let run = try sign("bank", "12345678", most)
    expect(run.exit, equals: 0, "\(run.errors)")
    #expect(try sign("long", "12345678", most).text != run.text)
    let verified = try tool(
      "transaction", "verify", "gate", "--question", "12345678", "--session", most, "--suite-pin-fd", "3",
      "--code-fd", "4", secrets: [3: "1234", 4: run.text.filter(\.isNumber)])
    #expect(verified.text == "accepted\n", "\(verified.errors)")
  }

  @Test("a question or a value that does not fit is refused, no counter is used, and nothing is stored")
  func badQuestions() throws {
    let tool = try newTool()
    for (name, data) in [
      ("n", "C-QN08"), ("h", "C-QH08"), ("a", "C-QA08"), ("s", "C-QN08-S064"), ("p", "C-QN08-PSHA1"),
      ("t", "C-QN08-T1M"),
    ] { try add(tool, name, "OCRA-1:HOTP-SHA1-6:" + data) }
    func sign(_ name: String, _ words: String...) -> [String] { ["transaction", "sign", name] + words }
    for (name, question) in [
      ("n", "123456789"), ("n", "1234567a"), ("n", "٠١٢"), ("n", ""), ("h", "123456789"), ("h", "12g4"),
      ("a", "abcdefghi"), ("a", "a b"), ("a", "ä"), ("n", String(repeating: "1", count: 4000)),
    ] { try expectRefused(tool, sign(name, "--question", question), exit: 12) }
    for (name, data) in [
      ("n", "1234567"), ("n", "12345678\n"), ("n", "123456789"), ("h", "ABCDEF01"), ("a", "abcdefghi"),
      ("a", ""),
      ("a", "a\u{1B}[1m"), ("a", "a\u{202E}b"), ("a", String(repeating: "a", count: 5 << 10)),
    ] { try expectRefused(tool, sign(name), input: data, exit: 9, saying: "QH64") }
    for words in [
      sign("n", "--question", "1", "--session", "x"), sign("n", "--question", "1", "--at", "1"),
      sign("n", "--question", "1", "--pin-fd", "3"), sign("n", "--question", "1", "--suite-pin-fd", "3"),
      sign("p", "--question", "1", "--pin-fd", "3"), sign("s", "--question", "1"),
      sign("n", "--own-question", "1"),
      sign("n", "--question", "1", "--session-format", "hex"),
    ] { try expectRefused(tool, words, secrets: [3: "1234"], exit: 2) }
    let long = String(repeating: "x", count: 65)
    try expectRefused(tool, sign("s", "--question", "1", "--session", long), exit: 12)
    for text in ["123", "12g4"] {
      try expectRefused(
        tool, sign("s", "--question", "1", "--session", text, "--session-format", "hex"), exit: 12)
    }
    try expectRefused(tool, sign("p", "--question", "1", "--suite-pin-fd", "3"), secrets: [3: ""], exit: 12)
    try expectRefused(tool, sign("p", "--question", "1"), exit: 6, saying: "--suite-pin-fd")
    try expectRefused(tool, sign("t", "--question", "1", "--at", "-1"), exit: 2)
    try expect(
      tool("transaction", "sign", "h", "--question", "123").exit, equals: 0,
      "an odd number of digits is allowed")
    for name in ["n", "a", "s", "p", "t"] { try expect(tool("otp", "counter", name).text, equals: "0\n") }
  }

  /// Verified to fail when a PIN counts as a question although an option gives it.
  @Test("data with characters that do not show is signed if nobody is asked")
  func unseen() throws {
    let tool = try newTool()
    expect(
      0,
      try tool.run(
        [
          "otp", "add", "bank", "--suite", "OCRA-1:HOTP-SHA256-8:C-QH64", "--secret-format", "hex",
          "--pin-mode", "checked", "--pin-fd", "3",
        ], input: Array(Self.key.utf8), secrets: [3: "8306"]))
    let data = Array("a\tb\n".utf8)
    expect(
      0,
      try tool.run(["transaction", "sign", "bank", "--pin-fd", "3"], input: data, secrets: [3: "8306"]))
    expect(9, try tool.run(["transaction", "sign", "bank"], input: data), "could not see")
  }

  /// Verified to fail when both PINs come from one channel, and when the suite is not looked at.
  @Test(
    "the PIN of the suite and the PIN that guards the credential have a channel each", .requirement("R24"))
  func twoPINs() throws {
    let tool = try newTool()
    let suite = "OCRA-1:HOTP-SHA1-6:QN08-PSHA1"
    try add(tool, "plain", suite)
    func guarded(_ name: String, _ mode: String) throws -> Tool.Run {
      try tool(
        "otp", "add", name, "--suite", suite, "--secret-format", "hex", "--pin-mode", mode, "--pin-fd",
        "3",
        input: Array("9f3b0cd1e4827716a05bfe3309c4d8127ae6614f".utf8), secrets: [3: "8306"])
    }
    let refused = try guarded("camouflaged", "camouflaged")
    #expect(refused.exit == 9 && refused.errors.contains("a suite with a PIN"), "\(refused.errors)")
    try expect(guarded("bank", "checked").exit, equals: 0)
    try add(tool, "other", suite, key: "9f3b0cd1e4827716a05bfe3309c4d8127ae6614f")
    let words = ["--question", "12345678", "--no-input"]
    func sign(_ name: String, _ pin: String?, _ suitePIN: String?) throws -> Tool.Run {
      try tool.run(
        ["transaction", "sign", name] + words + (pin == nil ? [] : ["--pin-fd", "3"])
          + (suitePIN == nil ? [] : ["--suite-pin-fd", "4"]),
        secrets: [3: pin ?? "", 4: suitePIN ?? ""])
    }
    let code = try sign("other", nil, "2749")
    let both = try sign("bank", "8306", "2749")
    #expect(both.exit == 0 && both.text == code.text, "\(both.errors)")
    let (one, another) = (try sign("bank", "8306", nil), try sign("bank", nil, "2749"))
    #expect(one.exit == 6 && one.errors.contains("the PIN of the suite is needed"), "\(one.errors)")
    #expect(another.exit == 6 && another.errors.contains("the PIN is needed"), "\(another.errors)")
    try expect(sign("bank", "2749", "8306").exit, equals: 3)
  }

  // MARK: vectors

  /// The vectors come in by one import, so that each has its counter.
  @Test(
    "all values of RFC 6287, and generated ones, come out", arguments: ["rfc6287_ocra", "generated_ocra"])
  func vectors(file: String) throws {
    let tool = try newTool()
    let path = Tool.repository.appendingPathComponent("Tests/Vectors/otp/\(file).json")
    let json = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: path)) as? [String: Any])
    let vectors = try #require(json["tests"] as? [[String: Any]]).enumerated().map {
      try Vector($1, number: $0)
    }
    #expect(vectors.count >= 60)
    let imported = try tool("import", "jsonl", input: Array(vectors.map(\.line).joined(separator: "\n").utf8))
    expect(imported.exit, equals: 0, "\(imported.errors)")
    let plain = vectors.filter { $0.pin == nil }
    let batch = try plain.map { vector in
      String(decoding: try JSONSerialization.data(withJSONObject: ["args": vector.words]), as: UTF8.self)
    }
    let answers = try tool("vault", "batch", input: Array(batch.joined(separator: "\n").utf8))
    expect(answers.exit, equals: 0, "\(answers.errors)")
    let codes = try answers.text.split(separator: "\n").map { line in
      let answer = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      return (answer?["result"] as? [String: Any])?["code"] as? String
    }
    expect(codes, equals: plain.map(\.code))
    for vector in vectors {
      guard let pin = vector.pin else { continue }
      let run = try tool.run(vector.words + ["--suite-pin-fd", "3"], secrets: [3: pin])
      expect(run.text, equals: vector.code + "\n", "\(vector.words): \(run.errors)")
    }
  }
}

/// A row of the vectors, as a line to import and as a command.
private struct Vector {
  let line: String
  let words: [String]
  let pin: String?
  let code: String

  init(_ row: [String: Any], number: Int) throws {
    let (suite, question) = (try #require(row["suite"] as? String), try #require(row["question"] as? String))
    let key = try #require(row["keyHex"] as? String)
    let secret = Data(
      stride(from: 0, to: key.count, by: 2).map { UInt8(key.dropFirst($0).prefix(2), radix: 16)! })
    let counter = (row["counter"] as? NSNumber).map { #","counter":\#($0.uint64Value)"# } ?? ""
    line =
      #"{"kind":"otp","name":"v\#(number)","suite":"\#(suite)","secretBase64":"\#(secret.base64EncodedString())"\#(counter)}"#
    pin = row["pin"] as? String
    code = try #require((suite.contains("-0:") ? row["hmacHex"] : row["otp"]) as? String)
    // The rows of RFC 6287, appendix C.2, have two challenges of eight characters in one text.
    let isMutual = question.count == 16 && suite.contains("QA08")
    var words = [
      "transaction", "sign", "v\(number)", "--question", isMutual ? String(question.prefix(8)) : question,
    ]
    if isMutual { words += ["--own-question", String(question.suffix(8))] }
    if let session = row["sessionHex"] as? String {
      words += ["--session", session, "--session-format", "hex"]
    }
    if let step = (row["timeStepHex"] as? String).flatMap({ Int64($0, radix: 16) }) {
      words += ["--at", String(step * Self.period(of: suite))]
    }
    self.words = words
  }

  private static func period(of suite: String) -> Int64 {
    let part = suite.split(separator: "-").last!.dropFirst()
    let unit: [Character: Int64] = ["S": 1, "M": 60, "H": 3600]
    return Int64(part.dropLast())! * unit[part.last!]!
  }
}
