import Foundation
import TestSupport
import Testing

@Suite("The Secret Service at the command line", .bounded, .serialized)
struct SecretServiceVerbTests {
  @Test("init, use, rotation there and back, and doctor; the commands say who keeps the key")
  func life() throws {
    let rig = try Rig()
    let made = try rig.tool("init", "--no-passcode", "--protector", "secret-service", "--json")
    expect(made.exit, equals: 0, "\(made.errors)")
    #expect(made.text.contains(#""protector":"secret-service""#) && !made.text.contains("deviceKey"))
    try expect(rig.tool("add", "mail", input: "secret").exit, equals: 0)
    try expect(rig.tool("get", "mail").text, equals: "secret")
    #expect(try rig.tool("status").text.contains("secret-service"))
    #expect(try rig.tool("vault", "doctor").text.contains("the Secret Service keeps the device key"))
    #expect(try rig.tool("vault", "rotate", "device-key").text.contains("secret-service"))
    try expect(rig.items().count, equals: 1)
    let file = try rig.tool("vault", "rotate", "device-key", "--protector", "file")
    #expect(try file.text.contains(".key") && rig.items() == [])
    try expect(rig.tool("vault", "rotate", "device-key", "--protector", "secret-service").exit, equals: 0)
    #expect(try rig.tool("vault", "check").exit == 0 && rig.keyFiles() == [])
    #expect(try rig.tool("vault", "purge").exit == 0 && rig.items().count == 1)
    try expect(rig.tool("get", "mail").text, equals: "secret")
  }

  // Verified to fail when noteCommit writes nothing.
  @Test(
    "an old copy of the vault written over it in place is noticed: the counter gives no code before it is set"
  )
  func oldCopyInPlace() throws {
    let rig = try Rig()
    try expect(rig.tool("init", "--no-passcode", "--protector", "secret-service").exit, equals: 0)
    let uri = "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0"
    try expect(rig.tool("otp", "add", "rfc", input: uri).exit, equals: 0)
    try expect(rig.tool("code", "rfc").text, equals: "755224\n")
    func shell(_ line: String) throws { try expect(rig.program("/bin/sh", ["-c", line]).exit, equals: 0) }
    try shell("ls .local/share/vaultctl && cp .local/share/vaultctl/default.vault old")
    try expect(rig.tool("code", "rfc").text, equals: "287082\n")
    // The same file, so that its inode tells nothing.
    try shell("cat old > .local/share/vaultctl/default.vault")
    try expect(rig.tool("code", "rfc").exit, equals: 17)
    try expect(rig.tool("otp", "counter", "rfc", "--set", "2").exit, equals: 0)
    try expect(rig.tool("code", "rfc").text, equals: "359152\n")
    try expect(rig.tool("vault", "check").exit, equals: 0)
  }

  /// Verified to fail when nothing is looked for under the former name, which reports the key as absent.
  @Test(
    "a key under the former name of the schema is not reported as lost, and the command that copies it works")
  func formerSchema() throws {
    let rig = try Rig()
    try expect(rig.tool("init", "--no-passcode", "--protector", "secret-service").exit, equals: 0)
    try expect(rig.tool("add", "mail", input: "secret").exit, equals: 0)
    let found = try rig.program(
      "/usr/bin/secret-tool", ["search", "--all", "xdg:schema", "vaultctl.DeviceKey"])
    func attribute(_ name: String) throws -> String {
      let line = try #require(
        (found.text + found.errors).split(separator: "\n").first { $0.hasPrefix("attribute.\(name) = ") })
      return String(try #require(line.split(separator: " ").last))
    }
    let (vault, key) = (try attribute("vault-id"), try attribute("key-id"))
    let text = try rig.program("/usr/bin/secret-tool", ["lookup", "vault-id", vault]).text
    for item in try rig.items() { _ = try rig.call("org.freedesktop.Secret.Item.Delete", path: item) }
    try expect(rig.tool("get", "mail").errors.contains("absent"), equals: true)
    try rig.put(text, vault: vault, key: key, schema: "vault.DeviceKey")
    let run = try rig.tool("get", "mail")
    let command = try #require(
      run.errors.split(separator: "\n").first?.components(separatedBy: "copy it: ").last)
    #expect(run.exit == 11 && !run.errors.contains("absent"), "\(run.errors)")
    try expect(rig.program("/bin/sh", ["-c", command]).exit, equals: 0)
    try expect(rig.tool("get", "mail").text, equals: "secret")
  }

  // Fails when a restore or a recovery takes the file protector whatever the header names.
  @Test("restore over a vault and recovery by code leave the key with the service, never in a file")
  func stays() throws {
    let rig = try Rig()
    let made = try rig.tool(
      "init", "--no-passcode", "--protector", "secret-service", "--recovery-code", "--json")
    let code = try #require(made.text.split(separator: "\"").first { $0.count == 39 && $0.contains("-") })
    try expect(rig.tool("add", "mail", input: "secret").exit, equals: 0)
    try rig.write("phrase", "a long phrase")
    try rig.write("code", String(code))
    try expect(rig.tool("backup", "b.vault", "--passphrase-file", "phrase").exit, equals: 0)
    let restored = try rig.tool("restore", "b.vault", "--replace", "--passphrase-file", "phrase")
    expect(restored.exit, equals: 0, "\(restored.errors)")
    // The key of the vault from before is kept for it.
    #expect(try rig.items().count == 2 && rig.keyFiles() == [])
    for item in try rig.items() { _ = try rig.call("org.freedesktop.Secret.Item.Delete", path: item) }
    try expect(rig.tool("get", "mail").exit, equals: 11)
    let recovered = try rig.tool("vault", "rotate", "device-key", "--recovery-file", "code")
    expect(recovered.exit, equals: 0, "\(recovered.errors)")
    #expect(try rig.items().count == 1 && rig.keyFiles() == [])
    try expect(rig.tool("get", "mail").text, equals: "secret")
  }

  @Test(
    "locked, gone, no bus, a key file asked for as well: 11 and 2, a line that says what to do, nothing made")
  func refusals() throws {
    let rig = try Rig()
    let words = ["init", "--no-passcode", "--protector", "secret-service", "--json"]
    try expect(rig.run(words + ["--device-key", "k.key"]).exit, equals: 2)
    try rig.lock()
    let locked = try rig.run(words)
    #expect(locked.exit == 11 && locked.errors.contains(#""deviceKeyLocked""#), "\(locked.errors)")
    // A prompt is the service's own: with a screen it is asked for, and there is nobody to show it here.
    let prompted = try rig.run(words, ["DISPLAY": ":99"])
    #expect(prompted.exit == 11 && prompted.errors.contains(#""deviceKeyLocked""#), "\(prompted.errors)")
    rig.killDaemon()
    let gone = try rig.run(words)
    #expect(gone.exit == 11 && gone.errors.contains("no program offers the Secret Service"), "\(gone.errors)")
    for address in ["", "unix:path=/nowhere"] {
      let run = try rig.run(words, ["DBUS_SESSION_BUS_ADDRESS": address])
      #expect(run.exit == 11 && run.errors.contains("session bus"), "\(run.errors)")
    }
    #expect(try rig.keyFiles() == [] && !rig.exists("home/.local/share/vaultctl/default.vault"))
  }

  // Verified to fail when libsecret is linked, and when it is loaded before a protector needs it.
  @Test("with the key in a file neither libsecret nor GLib is loaded; with the key in the service both are")
  func loading() throws {
    let rig = try Rig()
    try expect(rig.tool("init", "--no-passcode").exit, equals: 0)
    let early = try rig.libraries("ls")
    #expect(early.contains { $0.contains("libsqlite3") })
    expect(
      early.filter { line in ["libsecret", "libglib", "libgio"].contains { line.contains($0) } }, equals: [])
    try expect(rig.tool("vault", "rotate", "device-key", "--protector", "secret-service").exit, equals: 0)
    let loaded = try rig.libraries("ls")
    #expect(loaded.contains { $0.contains("libsecret-1") } && loaded.contains { $0.contains("libglib-2") })
  }

  // Verified to fail when the key is printed at loading, as text and in hexadecimal, and when it is written to a file
  // in the directory of the witness, raw and in both forms.
  @Test("the key, as it is, as its text or in hexadecimal, is in no file of ours and in no output")
  func text() throws {
    let rig = try Rig()
    let made = try rig.tool("init", "--no-passcode", "--protector", "secret-service")
    expect(made.exit, equals: 0)
    let shown = try rig.program(
      "/usr/bin/secret-tool", ["search", "--all", "xdg:schema", "vaultctl.DeviceKey"])
    let line = try #require(shown.text.split(separator: "\n").first { $0.hasPrefix("secret = ") })
    let text = String(line.dropFirst(9))
    let key = try #require(Data(base64Encoded: text))
    expect(key.count, equals: 32)
    let hexadecimal = key.map { String(format: "%02x", $0) }.joined()
    let runs =
      try [made]
      + ["status", "doctor", "vault", "check"].flatMap { try [rig.tool($0), rig.tool($0, "--json")] }
    for output in runs.map({ $0.text + $0.errors }) {
      #expect(!output.contains(text) && !output.lowercased().contains(hexadecimal))
    }
    let forms = [key, Data(text.utf8), Data(hexadecimal.utf8), Data(hexadecimal.uppercased().utf8)]
    let files = try rig.files("home")
    #expect(files.contains { $0.hasSuffix(".vault") })
    for file in files {
      let content = try Data(contentsOf: URL(fileURLWithPath: file))
      #expect(!forms.contains { content.range(of: $0) != nil }, "\(file)")
    }
  }
}
