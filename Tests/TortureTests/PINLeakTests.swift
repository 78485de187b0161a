import AuthenticatorKit
import Foundation
import Glibc
import OneTimePassword
import SecretMemory
import TestSupport
import Testing
import VaultCrypto
import VaultKit
import VaultTestKit

extension Torture {
  /// R7 for PINs and biokeys. Verified to fail when a PIN, the key that it derives into, `D`, a biokey, a masked secret or
  /// one without its mask is copied into an array that stays.
  ///
  /// A checked PIN of 16 digits cannot be in memory by chance; a camouflaged one of 6 digits can,
  /// so the key of its masks is looked for in its place.
  @Suite("PINs leak nowhere", .bounded, .requirement("R7"), .serialized)
  struct PINLeaks {
    private let passcode = "correct horse"
    /// Comes as an argument, so the search must find it.
    private let phrase = Canary()

    @Test(
      "no PIN, nothing that it uncovers and no biokey is in a file, in a core during a derivation, or in memory after a use"
    )
    func nowhere() throws {
      try Shell.need("gcore")
      try needRoot("PINs in the memory of another process")
      let vault = TemporaryVault(in: Place.fast)
      _ = try vault.makeCore(passcode: passcode)
        .enroll(
          BiometricPhrase(testing: phrase.text), named: "voice", passcode: Passcode(testing: passcode))
      let given = GivenSecrets()
      let gate = try Gate()
      let user = try torture("pin-secrets", vault.folder, passcode, phrase.text, gate: gate)
      gate.write(given.bytes)
      try #require(user.line() == "deriving")
      var canaries =
        try given.canaries + OpenedSecrets(vault, passcode: passcode, phrase: phrase.text).canaries(by: given)
      let core = try self.core(of: user.pid, beside: vault)
      #expect(!phrase.forms(in: core).isEmpty, "the search finds nothing at all")
      expect(canaries.leaks(in: core, "core"), equals: [])
      expect(canaries.leaks(below: vault.folder), equals: [])
      for state in ["open", "closed"] {
        gate.write("\n")
        try #require(user.line() == state)
        canaries += try OpenedSecrets(vault, passcode: passcode, phrase: phrase.text).canaries(by: given)
        let found = try leaks(of: canaries, in: user.pid, beside: phrase)
        expect(found, equals: [], "\(state)")
        expect(canaries.leaks(below: vault.folder), equals: [], "\(state)")
      }
      gate.write("\n")
      expect(user.wait(), equals: 0)
    }

    @Test(
      "vaultctl has no PIN, and nothing that it uncovers, in memory, in a file or in a message while it changes a PIN"
    )
    func tool() throws {
      try needRoot("PINs in the memory of vaultctl")
      let vault = TemporaryVault(in: Place.fast)
      let given = GivenSecrets()
      try Self.fill(vault, given)
      let old = try PINFile(given.pin)
      let gate = try Gate()
      let words = ["pin", "change", "pin", "--pin-file", old.path, "--new-pin-fd", "0"]
      let tool = try Tool(vault).start(words, gate: gate)
      // It has got the PIN by the time that it reads the new one.
      gate.write(String(given.newPIN.prefix(8)))
      try waitUntil("it reads the new PIN") { gate.isEmpty }
      var canaries = try given.canaries + OpenedSecrets(vault).checked(by: given)
      let found = try leaks(of: canaries, in: tool.pid, beside: Canary(old.path))
      expect(found, equals: [])
      expect(canaries.leaks(below: vault.folder), equals: [])
      gate.write(String(given.newPIN.suffix(8)))
      gate.open()
      let messages = tool.lines().joined()
      expect(tool.wait(), equals: 0, "\(messages)")
      canaries += try OpenedSecrets(vault).checked(by: given)
      expect(canaries.leaks(in: Data(messages.utf8), "messages"), equals: [])
      expect(canaries.leaks(below: vault.folder), equals: [])
    }

    // MARK: Steps

    /// A checked PIN and a credential behind it.
    private static func fill(_ vault: TemporaryVault, _ given: GivenSecrets) throws {
      let core = try vault.makeCore()
      var new = NewPINItem(.checked)
      let policy = try PINPolicy(lengths: 16...16)
      new.policy = policy
      let context = AuthenticationContext(reason: "", interaction: .notAllowed)
      context.provide(try PIN(SecretBytes(testing: given.pin), policy: policy))
      context.provide(new: try PIN(SecretBytes(testing: given.pin), policy: policy))
      let pin = try core.makePIN(new, context: context).id
      let uri = try OTPAuthURI(
        kind: .hotp(counter: 0), account: "a", secret: SecretBytes(copying: given.keys[0]))
      _ = try core.addOTP(uri, named: "checked", pin: pin, context: context)
    }

    private func core(of process: pid_t, beside vault: TemporaryVault) throws -> Data {
      let path = vault.folder + "/core"
      defer { try? FileManager.default.removeItem(atPath: "\(path).\(process)") }
      try Command.run("gcore", ["-a", "-o", path, "\(process)"])
      return try Data(contentsOf: URL(fileURLWithPath: "\(path).\(process)"))
    }

    /// - Parameter known: What is in the memory of the process, and must be found.
    private func leaks(
      of canaries: [NamedCanary], in process: pid_t, beside known: Canary
    ) throws -> [String] {
      var found: [String] = []
      var isSearched = false
      try ProcessMemory.forEachRegion(of: process) { data in
        found += canaries.leaks(in: data, "memory")
        isSearched = isSearched || !known.forms(in: data).isEmpty
      }
      #expect(isSearched, "the search finds nothing at all")
      return found
    }
  }

  fileprivate struct NamedCanary {
    let name: String
    let canary: Canary
  }
}

extension [Torture.NamedCanary] {
  fileprivate func leaks(in bytes: Data, _ place: String) -> [String] {
    flatMap { named in named.canary.forms(in: bytes).map { "\(named.name) as \($0) in \(place)" } }
  }

  fileprivate func leaks(below folder: String) -> [String] {
    (FileManager.default.subpaths(atPath: folder) ?? []).flatMap { path in
      leaks(in: FileManager.default.contents(atPath: folder + "/" + path) ?? Data(), path)
    }
  }
}

/// The secrets that the process reads from standard input.
private struct GivenSecrets {
  let pin = digits()
  let newPIN = digits()
  let camouflaged = "830617"
  let newCamouflaged = "274905"
  /// Random, so that they may be camouflaged.
  let keys = [freshBytes(20), freshBytes(20)]

  var bytes: [UInt8] { Array((pin + newPIN + camouflaged + newCamouflaged).utf8) + keys.joined() }

  var canaries: [Torture.NamedCanary] {
    [("PIN", pin), ("new PIN", newPIN)].map {
      Torture.NamedCanary(name: $0, canary: Torture.Canary($1))
    }
      + [("secret", keys[0]), ("secret without its mask", keys[1])].map {
        Torture.NamedCanary(name: $0, canary: Torture.Canary(bytes: $1))
      }
  }

  private static func digits() -> String { Torture.Canary.letters(16, of: "0123456789") }
}

/// What the PINs of a vault uncover, opened from the specification.
private struct OpenedSecrets {
  private let core: VaultCore
  private let vault: VaultID
  private let environment: VaultEnvironment
  private let phrase: String

  init(_ place: TemporaryVault, passcode: String? = nil, phrase: String = "") throws {
    environment = place.environment
    core = try place.openCore()
    if let passcode { try core.unlock(with: Passcode(testing: passcode)) }
    vault = try core.status().vault
    self.phrase = phrase
  }

  func canaries(by given: GivenSecrets) throws -> [Torture.NamedCanary] {
    try checked(by: given) + camouflaged(by: given) + [Self.named("biokey", biokey())]
  }

  /// `D`, what the PIN derives into, and the key that seals `D`.
  func checked(by given: GivenSecrets) throws -> [Torture.NamedCanary] {
    let item = try core.item(named: "pin")
    let record = try record(of: item)
    var found: [Torture.NamedCanary] = []
    for pin in [given.pin, given.newPIN] {
      let derived = try record.derivation.derive(from: SecretBytes(testing: pin), as: .pin, in: environment)
      found.append(Self.named("derived key", derived.bytesForTesting))
      found.append(Self.named("PIN key", HKDF.derive(from: derived, label: Labels.pin).bytesForTesting))
      let prepared = try record.derivation.prepare(for: .pin, in: environment)
      let secret = try? record.unwrapped(by: SecretBytes(testing: pin), prepared, of: item.id, vault: vault)
      if let secret { found.append(Self.named("D", secret.bytes.bytesForTesting)) }
    }
    expect(found.count, equals: 5)
    return found
  }

  private func camouflaged(by given: GivenSecrets) throws -> [Torture.NamedCanary] {
    let pin = try core.item(named: "pin-camouflaged")
    let item = try core.item(named: "masked").id
    let state = try core.state(of: pin.id)
    let masked = try core.reading { transaction throws(VaultError) in
      SharedSecret(
        try transaction.useSecret(
          of: transaction.item(item), by: Component(.otp, pin: .camouflaged)
        ).intoSecret())
    }
    let derivation = try record(of: pin).derivation
    let keys = try [given.camouflaged, given.newCamouflaged].map { pin in
      try CamouflagedPIN.key(
        of: SecretBytes(testing: pin), offset: state.pinOffset, by: derivation, environment: environment)
    }
    // One of both is the PIN under this offset.
    let plain = keys.map {
      CamouflagedPIN.masked(masked.bytes, by: $0, of: item, vault: vault).bytesForTesting
    }
    #expect(plain.contains(given.keys[1]))
    return [Self.named("masked secret", masked.bytes.bytesForTesting)]
      + keys.map { Self.named("key of the masks", $0.bytes.bytesForTesting) }
  }

  private func record(of item: Item) throws -> PINRecord {
    try core.reading { transaction throws(VaultError) in
      try PINRecord(transaction.useSecret(of: item, by: .pin).intoSecret())
    }
  }

  /// The 128 random bits, which come first.
  private func biokey() throws -> [UInt8] {
    let item = try core.items(matching: Query(.biokey))[0]
    let context = AuthenticationContext(reason: "")
    context.provide(try BiometricPhrase(testing: phrase))
    var transaction = try core.beginReading(.secret(.use, of: item.id, by: .biokey), context: context)
    let data = SharedSecret(try transaction.useSecret(of: item, by: .biokey).intoSecret())
    transaction.end()
    return Array(data.bytes.bytesForTesting[6..<22])
  }

  private static func named(_ name: String, _ bytes: [UInt8]) -> Torture.NamedCanary {
    Torture.NamedCanary(name: name, canary: Torture.Canary(bytes: bytes))
  }
}

/// A PIN in a file, outside of the directory of the vault.
private struct PINFile {
  private let place = TemporaryVault(in: Place.fast)
  var path: String { place.folder + "/pin" }

  init(_ pin: String) throws {
    let isMade = FileManager.default.createFile(
      atPath: path, contents: Data(pin.utf8), attributes: [.posixPermissions: 0o600])
    try #require(isMade)
  }
}
