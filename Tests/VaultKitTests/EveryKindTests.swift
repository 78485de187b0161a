import AuthenticatorKit
import Foundation
import PasswordDerivation
import SecretMemory
import TestSupport
import Testing
import VaultCrypto
import VaultKit
import VaultStorage
import VaultTestKit

/// A vault with an item of every kind, with each way to guard a key, opened by the reader in Python.
///
/// Verified to fail when D is joined before the application password, when the form follows from the constraint word, and
/// when the policy's field 8 has another number.
@Suite("A vault with every kind, for the reader", .bounded)
struct EveryKindTests {
  private let place = TemporaryVault()
  private let session = [UInt8](repeating: 7, count: 32)

  @Test("the reader opens every kind, with PIN, session and application password, and nothing without them")
  func reader() throws {
    let core = try place.makeCore()
    let opened = try fill(core)
    let all = try read([
      "pin": Array("2580".utf8), "session": session, "application-password": Array("app".utf8),
    ])
    expect(all, equals: opened)
    let bare = try read([:])
    let guarded = ["checked", "checked and password", "of a session"]
    expect(bare.filter { $0.value == nil }.keys.sorted(), equals: guarded.sorted())
    for (name, secret) in bare where secret != nil { expect(secret, equals: opened[name]) }
    // A rotation makes every primary key again, and its reader checks them.
    try core.rotateEpoch()
    try expect(core.verify().problems, equals: [])
    try expect(read([:]).keys.sorted(), equals: opened.keys.sorted())
  }

  /// Verified to fail when a transaction counts as lasting.
  @Test("a backup holds every kind but tokens, consents and transactions")
  func backup() throws {
    let core = try place.makeCore()
    let opened = try fill(core)
    let path = place.folder + "/a.backup"
    let report = try core.backUp(to: path, passphrase: Passcode(testing: "phrase"))
    expect(report.leftOut.map(\.reason), equals: [.shortLived, .shortLived, .shortLived, .shortLived])
    let found = try read(["passphrase": Array("phrase".utf8)], of: path)
    let left = ["kind 19", "kind 20", "kind 22", "of a session"]
    expect(found.keys.sorted(), equals: opened.keys.filter { !left.contains($0) }.sorted())
  }

  /// Adds the items, and returns their secrets by name, or by kind where there is no name.
  private func fill(_ core: VaultCore) throws -> [String: [UInt8]?] {
    var secrets: [String: [UInt8]?] = [:]
    func add(_ new: NewItem, _ secret: [UInt8], by component: Component? = nil, shown: [UInt8]? = nil) throws
    {
      let context = AuthenticationContext(reason: "a test", interaction: .notAllowed)
      context.provide(try ApplicationPassword(testing: "app"))
      _ = try core.add(
        new, secret: SecretBytes(copying: secret), by: component ?? Component(new.kind),
        context: new.access.constraints.isEmpty ? nil : context)
      secrets[new.attributes[.name] ?? "kind \(new.kind.rawValue)"] = .some(shown ?? secret)
    }
    for kind in [1, 2, 3, 4, 16, 18, 19, 20, 21, 22, 23, 24, 25, 0x8000].map({ ItemKind(rawValue: $0) }) {
      var new = NewItem(kind)
      if kind.hasName { new.attributes[.name] = "kind \(kind.rawValue)" }
      new.attributes[.account] = "anna"
      new.attributes[.label] = "label"
      new.isExportable = false
      // The reader takes a registration apart.
      try add(new, kind == .clientRegistration ? registration : Array("secret of \(kind.rawValue)".utf8))
    }
    var same = NewItem(.genericPassword, name: "another of anna")
    same.attributes[.account] = "anna"
    try add(same, Array("secret of another".utf8))
    let (pin, data, d) = try checkedPIN(core)
    secrets["pin"] = .some(data)
    let behind = Component(.otp, pin: .checked(d))
    var new = NewItem(.otp, name: "checked")
    new.guardingPIN = GuardingPIN(.checked, item: pin)
    try add(new, Array("12345678901234567890".utf8), by: behind)
    new = NewItem(.otp, name: "checked and password", access: try AccessControl(.applicationPassword))
    new.guardingPIN = GuardingPIN(.checked, item: pin)
    try add(new, Array("09876543210987654321".utf8), by: behind)
    let token = Component(.cardToken, session: SharedSecret(SecretBytes(copying: session)))
    try add(tokenOfSession, Array("token".utf8), by: token)
    return secrets
  }

  private var tokenOfSession: NewItem {
    var new = NewItem(.cardToken, name: "of a session")
    let hash = SHA256.hash(Array("vault/1/session".utf8) + session)
    new.tokenLife = TokenLife(
      issued: Instant(milliseconds: 1), issuedBootTime: 1, boot: [UInt8](repeating: 0, count: 16),
      length: 1_000, mostUses: 1, session: hash)
    return new
  }

  /// A client registration with the fields that each has.
  private var registration: [UInt8] {
    var record = Record()
    record[1] = Array("client-1".utf8)
    record[2] = Array("https://as.example".utf8)
    record[3] = Array("https://as.example/token".utf8)
    record.set(4, u8: 1)
    record[11] = Array("template".utf8)
    return record.encoded
  }

  /// A PIN item whose PIN is 2580, made from the specification: its id, its data and `D`.
  ///
  /// The seal binds the id, so the item is added before its data is made.
  private func checkedPIN(_ core: VaultCore) throws -> (ItemID, [UInt8], SharedSecret) {
    let item = try core.add(
      NewItem(.pin, name: "pin"), secret: SecretBytes(testing: "-"), by: Component(.pin))
    let d = SecretBytes(copying: [UInt8](repeating: 0xD, count: 32))
    let environment = core.environment
    let derivation = try KeyDerivation.fresh(environment.parameters, random: environment.random)
    let derived = try derivation.derive(from: SecretBytes(testing: "2580"), as: .pin, in: environment)
    let key = HKDF.derive(from: derived, info: Array("vault/1/pin".utf8), byteCount: 32)
    var bound = Record()
    bound[1] = try core.status().vault.bytes
    bound[2] = item.id.bytes
    bound[3] = Array("pin".utf8)
    var data = Record()
    data.set(1, u8: 1)
    data[2] = derivation.encoded
    data[3] = try CommittingSeal.seal(
      d, under: key, label: Label("vault/1/seal-pin"), aad: bound.encoded, random: SystemRandom())
    try core.update(
      item.id, ItemChanges(), secret: SecretBytes(copying: data.encoded), by: Component(.pin))
    return (item.id, data.encoded, SharedSecret(d))
  }

  /// What the reader finds: secrets by name or kind, `nil` where one does not open.
  private func read(_ typed: [String: [UInt8]], of backup: String? = nil) throws -> [String: [UInt8]?] {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let names = try FileManager.default.subpathsOfDirectory(atPath: place.folder + "/state")
    let key = try #require(names.first { $0.hasSuffix(".key") })
    var command = ["exec", "/usr/bin/python3", "-B", root.path + "/docs/format/open_vault.py", place.path]
    if let backup { command[4] = backup }
    command += backup == nil ? ["--json", "--device-key", place.folder + "/state/" + key] : ["--json"]
    for (number, (name, bytes)) in typed.sorted(by: { $0.key < $1.key }).enumerated() {
      let file = place.folder + "/typed-" + name
      try Data(bytes).write(to: URL(filePath: file))
      command += ["--\(name)-fd", "\(number + 3)", "\(number + 3)<\(file)"]
    }
    let run = try Program("/bin/sh", ["-c", command.joined(separator: " ")]).run(errors: .apart)
    expect(run.status, equals: 0, "\(run.errors)")
    let found = try #require(try JSONSerialization.jsonObject(with: run.output) as? [String: Any])
    var secrets: [String: [UInt8]?] = [:]
    for item in try #require(found["items"] as? [[String: Any]]) {
      let secret = (item["secretBase64"] as? String).flatMap { Data(base64Encoded: $0) }.map { Array($0) }
      secrets[item["name"] as? String ?? "kind \(item["kind"] ?? 0)"] = .some(secret)
    }
    return secrets
  }
}
