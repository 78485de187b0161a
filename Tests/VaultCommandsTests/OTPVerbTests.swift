import Foundation
import TestSupport
import Testing

@Suite("One-time passwords at the command line", .bounded)
struct OTPVerbTests {
  private static let key = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
  private static let rfc4226 = [
    "755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489",
  ]

  private func newTool(_ uris: [String: String] = [:], role: String = "prover") throws -> Tool {
    let tool = try Tool()
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    for (name, uri) in uris {
      let run = try tool("otp", "add", name, "--role", role, input: Array(uri.utf8))
      expect(run.exit, equals: 0, "\(run.errors)")
    }
    return tool
  }

  @Test("the ten values of RFC 4226 appendix D come in order, each counter once")
  func rfc4226Codes() throws {
    let tool = try newTool(["rfc": "otpauth://hotp/x?secret=\(Self.key)&counter=0"])
    for (counter, code) in Self.rfc4226.enumerated() {
      if counter % 2 == 0 {
        try expect(tool("code", "rfc").text, equals: code + "\n")
      } else {
        let run = try tool("code", "rfc", "--json")
        #expect(
          run.text == #"{"name":"rfc","type":"hotp","code":"\#(code)","digits":6,"counter":\#(counter)}"#
            + "\n")
      }
    }
    try expect(tool("otp", "counter", "rfc").text, equals: "10\n")
  }

  @Test(
    "the values of RFC 6238 appendix B with the times between which they are valid",
    arguments: [
      ("SHA1", 20, 59, "94287082", 1), ("SHA1", 20, 1_111_111_109, "07081804", 1),
      ("SHA1", 20, 1_111_111_111, "14050471", 29), ("SHA1", 20, 20_000_000_000, "65353130", 10),
      ("SHA256", 32, 59, "46119246", 1), ("SHA256", 32, 2_000_000_000, "90698825", 10),
      ("SHA512", 64, 59, "90693936", 1), ("SHA512", 64, 1_234_567_890, "93441116", 30),
    ])
  func rfc6238Codes(algorithm: String, length: Int, at: Int, code: String, remaining: Int) throws {
    let secret = base32(
      Array((0..<length).map { UInt8(ascii: "1") + UInt8($0 % 10) }.map { $0 > 0x39 ? 0x30 : $0 }))
    let tool = try newTool(["t": "otpauth://totp/x?secret=\(secret)&algorithm=\(algorithm)&digits=8"])
    let json = try tool("code", "t", "--at", String(at), "--json").json
    expect(json["code"] as? String, equals: code)
    expect(json["type"] as? String, equals: "totp")
    expect(json["validFrom"] as? Int, equals: at - at % 30)
    expect(json["validTo"] as? Int, equals: at - at % 30 + 30)
    expect(json["remaining"] as? Int, equals: remaining)
    try expect(tool("code", "t", "--at", String(at)).text, equals: code + "\n")
  }

  @Test("--next is the next period's code, --min-remaining waits, both and --at are refused for counters")
  func moments() throws {
    let tool = try newTool([
      "t": "otpauth://totp/x?secret=\(Self.key)&digits=8",
      "h": "otpauth://hotp/x?secret=\(Self.key)&counter=0",
    ])
    tool.environment["VAULTCTL_TESTING_CLOCK"] = "59"
    try expect(tool("code", "t").text, equals: "94287082\n")
    try expect(tool("code", "t", "--next").text, equals: "37359152\n")
    try expect(tool("code", "t", "--min-remaining", "1").text, equals: "94287082\n")
    try expect(tool("code", "t", "--min-remaining", "2").text, equals: "37359152\n")
    try expect(tool("code", "t", "--min-remaining", "31").exit, equals: 2)
    try expect(tool("code", "t", "--min-remaining", "2", "--at", "59").exit, equals: 2)
    for words in [["--at", "59"], ["--next"], ["--min-remaining", "5"]] {
      try expect(tool.run(["code", "h"] + words).exit, equals: 2)
    }
    try expect(tool("otp", "counter", "h").text, equals: "0\n", "a refused code used no counter")
    try expect(tool("otp", "counter", "t").exit, equals: 9)
    try expect(tool("code", "t", "--at", "1970-01-01T00:00:59Z").text, equals: "94287082\n")
  }

  @Test("a verifier accepts a code once, counts a wrong one, never prints one", arguments: ["hotp", "totp"])
  func verifier(kind: String) throws {
    let uri = "otpauth://\(kind)/x?secret=\(Self.key)&digits=\(kind == "hotp" ? "6&counter=0" : "8")"
    let tool = try newTool(["v": uri], role: "verifier")
    tool.environment["VAULTCTL_TESTING_CLOCK"] = "59"
    let code = kind == "hotp" ? "755224" : "94287082"
    func verify(_ text: String) throws -> Int32 {
      try tool("otp", "verify", "v", input: Array(text.utf8)).exit
    }
    try expect(tool("code", "v").exit, equals: 9)
    for malformed in [
      "", "75522", code + "0", code + "." + code, code + "\n" + code, "٧٥٥٢٢٤",
      String(repeating: "1", count: 100),
    ] {
      try expect(verify(malformed), equals: 12, "'\(malformed)'")
    }
    try expect(verify(" \(code.prefix(3)) \(code.dropFirst(3)) \n"), equals: 0)
    try expect(verify(code), equals: 3)
    let wrong = kind == "hotp" ? "000000" : "00000000"
    try expect(verify(wrong), equals: 3)
    let delayed = try tool("otp", "verify", "v", "--json", input: Array(wrong.utf8))
    expect(delayed.exit, equals: 4)
    #expect((try delayed.error["retryAfter"] as? Int ?? 0) > 0)
    try expect(
      delayed.error["message"] as? String,
      equals: "the code was not judged, because a wrong one came before it")
    try expect(tool("otp", "verify", "nobody", input: Array(code.utf8)).exit, equals: 1)
  }

  @Test("two codes in a row find a far counter again, one does not, and a prover is sent to 'otp counter'")
  func resync() throws {
    let uri = "otpauth://hotp/x?secret=\(Self.key)&counter=0"
    let tool = try newTool(["p": uri])
    try expect(tool("otp", "add", "v", "--role", "verifier", input: Array(uri.utf8)).exit, equals: 0)
    try expect(tool("otp", "counter", "p", "--set", "500").exit, equals: 0)
    let first = try tool("code", "p").text
    let second = try tool("code", "p").text
    tool.environment["VAULTCTL_TESTING_CLOCK"] = "1700000000"
    try expect(tool("otp", "resync", "v", input: Array(first.utf8)).exit, equals: 12)
    try expect(tool("otp", "resync", "v", input: Array((first + second).utf8)).exit, equals: 0)
    try expect(tool("otp", "counter", "v").text, equals: "502\n")
    let refused = try tool("otp", "resync", "p", input: Array((first + second).utf8))
    #expect(refused.exit == 9 && refused.errors.contains("otp counter"))
  }

  @Test("a counter goes back only by force")
  func counter() throws {
    let tool = try newTool(["h": "otpauth://hotp/x?secret=\(Self.key)&counter=7"])
    try expect(tool("otp", "counter", "h", "--set", "9").text, equals: "9\n")
    try expect(tool("otp", "counter", "h", "--set", "0").exit, equals: 9)
    try expect(tool("otp", "counter", "h", "--set", "0", "--force").text, equals: "0\n")
    try expect(
      tool("otp", "counter", "h", "--set", "18446744073709551615").text, equals: "18446744073709551615\n")
    try expect(tool("otp", "counter", "h", "--set", "18446744073709551616").exit, equals: 2)
    try expect(tool("otp", "counter", "h", "--set", "-1").exit, equals: 2)
  }

  @Test("what is exported is read back to the same credential; the raw secret is not given out as an item's")
  func export() throws {
    let uri =
      "otpauth://totp/Ex%20Ample:me%40x?secret=\(Self.key)&issuer=Ex%20Ample&algorithm=SHA256&digits=8&period=60"
    let tool = try newTool(["t": uri])
    let exported = try tool("otp", "export", "t")
    #expect(exported.exit == 0 && exported.text.hasPrefix("otpauth://totp/"))
    try expect(tool("otp", "add", "u", input: exported.output).exit, equals: 0)
    try expect(tool("otp", "export", "u").output, equals: exported.output)
    try expect(
      tool("code", "t", "--at", "100").text, equals: tool("code", "u", "--at", "100").text)
    try expect(tool("get", "t").exit, equals: 9)
    try expect(tool("edit", "t", "--password", input: [1]).exit, equals: 9)
    try expect(tool("otp", "export", "t", "--json").json["uri"] as? String, equals: exported.text)
  }

  @Test(
    "a URI that is none, or says what is not known, is malformed and none of it is repeated",
    arguments: [
      "", "CANARY", "https://example.org/CANARY", "otpauth://totp/x", "otpauth://totp/x?secret=CANARY!!",
      "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ",
      "otpauth://totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&algorithm=CANARY",
      "otpauth://totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&digits=9",
      "otpauth://CANARY/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ",
    ])
  func malformed(uri: String) throws {
    let tool = try newTool()
    let run = try tool("otp", "add", "x", input: Array(uri.utf8))
    #expect(run.exit == 12 && !run.errors.contains("CANARY"), "\(run.errors)")
    #expect(try tool("otp", "list").text.isEmpty)
  }

  @Test("a URI in argv is refused before anything else, and is not repeated")
  func argv() throws {
    let tool = try newTool()
    for words in [
      ["otp", "add", "otpauth://totp/x?secret=CANARYCANARY"],
      ["otp", "add", "x", "otpauth://totp/x?secret=CANARYCANARY"],
    ] {
      let run = try tool.run(words)
      #expect(run.exit == 2 && run.errors.contains("standard input") && !run.errors.contains("CANARY"))
    }
  }

  @Test("list, show and rm are about credentials only")
  func others() throws {
    let tool = try newTool([
      "t": "otpauth://totp/Ex:me?secret=\(Self.key)", "h": "otpauth://hotp/x?secret=\(Self.key)&counter=3",
    ])
    try expect(tool("add", "plain", input: [1]).exit, equals: 0)
    expect(Set(try tool("otp", "list", "--format", "name").text.split(separator: "\n")), equals: ["t", "h"])
    let shown = try tool("otp", "show", "h", "--json").json
    #expect(shown["counter"] as? Int == 3 && shown["role"] as? String == "prover")
    try expect(tool("otp", "show", "plain").exit, equals: 1)
    try expect(tool("otp", "rm", "plain").exit, equals: 1)
    try expect(tool("get", "plain").exit, equals: 0)
    try expect(tool("otp", "confirm", "t").exit, equals: 9)
    try expect(tool("otp", "rm", "t").exit, equals: 0)
    try expect(tool("code", "t").exit, equals: 1)
  }

  @Test("codes of four shells at once are all distinct")
  func concurrent() throws {
    let tool = try newTool(["h": "otpauth://hotp/x?secret=\(Self.key)&digits=8&counter=0"])
    let bash = try Shell.need("bash")
    let loop = "for i in {1..25}; do '\(Tool.path)' otp code h --json || exit 1; done"
    let run = try tool.run(["-c", "(\(loop)) & (\(loop)) & (\(loop)) & (\(loop)) & wait"], program: bash)
    let counters = run.text.split(separator: "\n").compactMap {
      (try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])?["counter"] as? Int
    }
    expect(counters.sorted(), equals: Array(0..<100), "\(run.errors)")
  }

  private func base32(_ bytes: [UInt8]) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
    var text = ""
    var bits = 0
    var value = 0
    for byte in bytes {
      value = value << 8 | Int(byte)
      bits += 8
      while bits >= 5 {
        bits -= 5
        text.append(alphabet[value >> bits & 31])
      }
    }
    if bits > 0 { text.append(alphabet[value << (5 - bits) & 31]) }
    return text
  }
}
