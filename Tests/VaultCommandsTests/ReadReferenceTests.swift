import Foundation
import TestSupport
import Testing

/// `read`.
///
/// Verified to fail when a credential is read.
@Suite("The value of one reference", .bounded)
struct ReadReferenceTests {
  @Test("the value is printed byte for byte, and nothing else is said")
  func printed() throws {
    let tool = try EntryVerbTests.make()
    for (reference, value) in [
      ("shop/password", "geheim"), ("shop", "geheim"), ("shop/PIN%20of%20card", "canary-1234"),
      ("shop/notes", "line one\nline two\n"), ("shop/account", "anna"),
    ] {
      let run = try tool("read", "vaultctl://" + reference)
      expect(0, run)
      #expect(run.text == value && run.errors.isEmpty, "\(reference): \(run.errors)")
    }
    let json = try tool("read", "vaultctl://shop/customer", "--json").json
    expectHelp(of: ["read"], toName: json)
    #expect(json["value"] as? String == "4711=x" && json["field"] as? String == "customer")
  }

  @Test("a piece of a name, an item of a component and what is no reference are refused")
  func refused() throws {
    let tool = try EntryVerbTests.make()
    let uri = "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0"
    expect(0, try tool("otp", "add", "code", input: Array(uri.utf8)))
    expect(0, try tool("key", "generate", "k"))
    let pin = try tool.file("pin", "8306")
    expect(0, try tool("pin", "set", "--new-pin-file", pin))
    expect(0, try tool("card", "put", "card", "--ttl", "90s", input: [65]))
    for name in ["code", "k", "pin", "card"] {
      for field in ["", "/password", "/otp"] {
        let run = try tool("read", "vaultctl://\(name)\(field)")
        #expect(run.exit == 9 && run.text.isEmpty, "\(name)\(field): \(run.exit) \(run.errors)")
      }
    }
    try expect(tool("code", "code").text, equals: "755224\n")
    expect(1, try tool("read", "vaultctl://sho/password"), "REFERENCE, sho/password")
    expect(1, try tool("read", "vaultctl://shop/nope"), "REFERENCE, shop/nope")
    expect(12, try tool("read", "shop/password"), "REFERENCE")
  }
}
