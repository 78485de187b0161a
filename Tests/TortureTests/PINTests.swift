import AuthenticatorKit
import Foundation
import Glibc
import OneTimePassword
import SecretMemory
import TestSupport
import Testing
import VaultKit
import VaultTestKit

/// A vault with one PIN item and HOTP credentials behind it, which all have one key.
private struct PINVault {
  /// Random, so that it may be camouflaged.
  static let key: [UInt8] = [
    0xa5, 0x4d, 0xca, 0x18, 0x25, 0x30, 0xbb, 0x1d, 0x6d, 0x13,
    0x2c, 0xde, 0xd6, 0x23, 0x7b, 0x2e, 0xd9, 0x1e, 0x3f, 0x72,
  ]
  let vault = TemporaryVault(in: Place.fast)
  let name: String

  init(_ mode: PINMode, accounts: Int = 1) throws {
    let core = try vault.makeCore()
    let new = NewPINItem(mode)
    name = new.name
    let pin = try core.makePIN(new, context: Self.context(mode == .checked ? nil : "8306", new: "8306")).id
    for number in 1...accounts {
      let uri = try OTPAuthURI(kind: .hotp(counter: 0), account: "a", secret: SecretBytes(copying: Self.key))
      _ = try core.addOTP(uri, named: "account \(number)", pin: pin, context: Self.context("8306"))
    }
  }

  static func context(_ pin: String? = nil, new: String? = nil) throws -> AuthenticationContext {
    let context = AuthenticationContext(reason: "", interaction: .notAllowed)
    if let pin { context.provide(try PIN(SecretBytes(testing: pin))) }
    if let new { context.provide(new: try PIN(SecretBytes(testing: new))) }
    return context
  }

  /// The PIN, and processes that make codes with it.
  static func secret() throws -> Torture.TriedSecret {
    let vault = try PINVault(.checked).vault
    return Torture.TriedSecret(
      vault: vault, right: "8306", wrong: "2749", limit: Int(PINAttempts.standardLimit),
      refusal: "refused blocked",
      arguments: { ["pin", vault.folder, "account 1", $0, Torture.TriedSecret.tally(of: vault)] })
  }

  /// The attempts of killed processes would block the PIN.
  func forgetAttempts() throws {
    let core = try vault.openCore()
    let pin = try core.item(named: name).id
    try core.write { transaction in
      try transaction.changeState(of: pin) {
        ($0.failures, $0.attemptsUnderWay, $0.isBlocked) = (0, 0, false)
      }
    }
  }

  static func code(_ counter: UInt64) throws -> String {
    try HOTPGenerator(key: SecretBytes(copying: key)).code(at: counter)
  }
}

extension Torture {
  /// R5 for PINs. Verified to fail when an attempt is not counted before its derivation.
  @Suite("Tries of a PIN", .bounded, .requirement("R5"), .serialized)
  struct PINTries {
    private let secret: TriedSecret

    init() throws { secret = try PINVault.secret() }

    @Test(
      "fifty processes with wrong PINs get ten key derivations together, and then the right PIN gets none")
    func parallel() throws {
      let answers = try secret.race(50, "2749")
      expect(answers.count { $0 == "refused authenticationFailed" }, equals: 10, "\(Set(answers))")
      expect(answers.count { $0 == "refused blocked" }, equals: 40, "\(Set(answers))")
      expect(secret.derivations, equals: 10)
      try expect(secret.one("8306"), equals: ["refused blocked"])
      expect(secret.derivations, equals: 10)
    }

    @Test("where the count cannot be written, nothing is derived", arguments: ["pwrite64", "fdatasync"])
    func failing(call: String) throws {
      for error in ["EIO", "ENOSPC"] {
        for _ in 0..<Scale.pick(3, long: 30) {
          let words = ["-f", "-qq", "-o", "/dev/null", "-e", "inject=\(call):error=\(error)"]
          let tried = [Built.path("vault-torture")] + secret.arguments("2749")
          let answers = try Running("strace", words + tried).lines()
          #expect(answers.count == 1 && answers != ["refused authenticationFailed"], "\(answers)")
        }
      }
      expect(secret.derivations, equals: 0)
      try expect(secret.one("2749"), equals: ["refused authenticationFailed"])
      #expect(try secret.one("8306").first?.hasPrefix("code 0 ") == true)
    }

    @Test("a try that is killed in its derivation counts as much as one that failed", .requirement("A7"))
    func killedInDerivation() throws { try secret.expectKilledInDerivation() }

    @Test(
      "a killed try counts as much as one that failed", .requirement("A7"), arguments: KillMoment.allCases)
    func killed(_ moment: KillMoment) throws {
      try TriedSecret.expectKilled(moment, rounds: Scale.pick(2, long: 100), PINVault.secret)
    }
  }

  /// A6. Verified to fail when a code leaves its counter as it was.
  @Suite("Codes behind a PIN under kill", .bounded, .requirement("A6"), .serialized)
  struct PINCodeKills {
    @Test("no counter comes twice, and each code is right", arguments: [PINMode.checked, .camouflaged])
    func killed(_ mode: PINMode) throws {
      let rig = try PINVault(mode)
      let kills = Scale.pick(10, long: 500)
      let words = ["pin-codes", rig.vault.folder, "account 1", "8306"]
      let commands = try KilledCommands("vault-torture", random: SeededRandom(seed: Scale.seed))
      var said = try commands.learn("codes", words, upTo: 6)
      for _ in 0..<kills {
        try rig.forgetAttempts()
        let run = try commands.run("codes", words)
        expect(run.status, equals: -SIGKILL, "\(run.lines.suffix(2))")
        said += run.lines
      }
      said.removeAll { $0 == "start" }
      let counters = said.compactMap { $0.split(separator: " ").first.flatMap { UInt64($0) } }
      expect(counters.count, equals: said.count, "\(said.filter { $0.contains("ERROR") })")
      expect(Set(counters).count, equals: counters.count)
      for line in said.prefix(200) {
        let words = line.split(separator: " ")
        try expect(String(words[1]), equals: PINVault.code(UInt64(words[0])!))
      }
      let core = try rig.vault.openCore()
      try expect(core.verify().problems, equals: [])
      report("A6, \(mode): \(kills) kills, \(said.count) codes, seed \(Scale.seed)")
    }
  }

  /// B2. Verified to fail when a change wraps another `D`, and when it moves the offset by the wrong difference.
  @Suite("A change of the PIN under kill", .bounded, .requirement("B2"), .serialized)
  struct PINChangeKills {
    @Test(
      "all accounts have the old PIN or all have the new one", arguments: [PINMode.checked, .camouflaged])
    func killed(_ mode: PINMode) throws {
      let accounts = Scale.pick(5, long: 100)
      let kills = Scale.pick(8, long: 100)
      let rig = try PINVault(mode, accounts: accounts)
      let other = try PINVault(mode, accounts: accounts)
      let commands = try KilledCommands("vault-torture", random: SeededRandom(seed: Scale.seed))
      try commands.learn("change", ["pin-change", other.vault.folder, other.name, "8306", "2749"], upTo: 6)
      var now = "8306"
      for _ in 0..<kills {
        let next = now == "8306" ? "2749" : "8306"
        let told = try commands.run("change", ["pin-change", rig.vault.folder, rig.name, now, next])
        expect(told.status, equals: -SIGKILL, "\(told.lines.suffix(2))")
        try rig.forgetAttempts()
        let done = told.lines.last.flatMap { $0.hasPrefix("< ") ? String($0.dropFirst(2)) : nil }
        now = try judge(rig, accounts, possible: done.map { [$0] } ?? [now, next])
      }
      report("B2, \(mode): \(kills) kills in changes of the PIN of \(accounts) accounts, seed \(Scale.seed)")
    }

    /// - Returns: The one PIN that all accounts have.
    private func judge(_ rig: PINVault, _ accounts: Int, possible: [String]) throws -> String {
      let core = try rig.vault.openCore()
      try expect(core.verify().problems, equals: [])
      var right: [String] = []
      for number in 1...accounts {
        let id = try core.item(named: "account \(number)").id
        right += try possible.filter { try isRight($0, id, core) }
      }
      #expect(right.count == accounts && Set(right).count == 1, "\(right)")
      // A pending change of a camouflaged PIN is confirmed, as after a code that the server accepted.
      if rig.name != "pin" { try core.confirmPIN(core.item(named: rig.name).id) }
      return try #require(right.first)
    }

    /// Whether the PIN gives the credential's code.
    private func isRight(_ pin: String, _ id: ItemID, _ core: VaultCore) throws -> Bool {
      let expected = try PINVault.code(core.state(of: id).counter)
      let context = try PINVault.context(pin)
      do throws(VaultError) {
        return try core.nextHOTPCode(of: id, context: context).code == expected
      } catch {
        guard error.code == .authenticationFailed else { throw error }
        return false
      }
    }
  }
}
