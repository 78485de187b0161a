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
  /// No text, so that it may be camouflaged.
  static let key = [UInt8](0..<20)
  let vault = TemporaryVault(in: Place.fast)
  let name: String
  var tally: String { vault.folder + "/tally" }

  init(_ mode: PINMode, limit: Int = 10, accounts: Int = 1) throws {
    let core = try vault.makeCore()
    var new = NewPINItem(mode)
    // Attempts that are killed count for 10 seconds, also between right ones.
    if mode == .checked { new.limit = limit }
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

  var derivations: Int {
    (try? FileManager.default.attributesOfItem(atPath: tally)[.size] as? Int) ?? 0
  }

  func one(_ pin: String) throws -> [String] {
    try torture("pin", vault.folder, "account 1", pin, tally).lines()
  }

  static func code(_ counter: UInt64) throws -> String {
    try HOTPGenerator(key: SecretBytes(copying: key)).code(at: counter)
  }
}

extension Torture {
  /// R5 for PINs. Verified to fail when an attempt is not counted before its derivation.
  @Suite("Tries of a PIN", .bounded, .requirement("R5"), .serialized)
  struct PINTries {
    private let rig: PINVault

    init() throws { rig = try PINVault(.checked) }

    @Test(
      "fifty processes with wrong PINs get ten key derivations together, and then the right PIN gets none")
    func parallel() throws {
      let gate = try Gate()
      let all = try (0..<50).map { _ in
        try Running(
          Built.path("vault-torture"), ["pin", rig.vault.folder, "account 1", "2749", rig.tally], gate: gate)
      }
      gate.open()
      let answers = all.flatMap { $0.lines() }
      expect(answers.count { $0 == "refused authenticationFailed" }, equals: 10, "\(Set(answers))")
      expect(answers.count { $0 == "refused blocked" }, equals: 40, "\(Set(answers))")
      expect(rig.derivations, equals: 10)
      try expect(rig.one("8306"), equals: ["refused blocked"])
      expect(rig.derivations, equals: 10)
    }

    @Test("where the count cannot be written, nothing is derived", arguments: ["pwrite64", "fdatasync"])
    func failing(call: String) throws {
      for error in ["EIO", "ENOSPC"] {
        for _ in 0..<Scale.pick(3, long: 30) {
          let words = ["-f", "-qq", "-o", "/dev/null", "-e", "inject=\(call):error=\(error)"]
          let tried = [Built.path("vault-torture"), "pin", rig.vault.folder, "account 1", "2749", rig.tally]
          let answers = try Running("/usr/bin/strace", words + tried).lines()
          #expect(answers.count == 1 && answers != ["refused authenticationFailed"], "\(answers)")
        }
      }
      expect(rig.derivations, equals: 0)
      try expect(rig.one("2749"), equals: ["refused authenticationFailed"])
      #expect(try rig.one("8306").first?.hasPrefix("code 0 ") == true)
    }

    @Test("a killed try counts as much as one that failed", .requirement("A7"))
    func killed() throws {
      let random = SeededRandom(seed: Scale.seed)
      let kills = Scale.pick(20, long: 1_000)
      for _ in 0..<kills {
        let process = try torture("pin", rig.vault.folder, "account 1", "2749", rig.tally, "slow")
        usleep(UInt32(random.below(40_000)))
        process.kill()
        process.wait()
        #expect(rig.derivations <= 10)
      }
      // Whatever was killed: ten more wrong PINs are too many, and the right one comes too late.
      for _ in 0..<10 { _ = try rig.one("2749") }
      #expect(rig.derivations <= 10)
      try expect(rig.one("8306"), equals: ["refused blocked"])
      report("R5, PINs: \(kills) kills, \(rig.derivations) key derivations, seed \(Scale.seed)")
    }
  }

  /// A6. Verified to fail when a code leaves its counter as it was.
  @Suite("Codes behind a PIN under kill", .bounded, .requirement("A6"), .serialized)
  struct PINCodeKills {
    @Test("no counter comes twice, and each code is right", arguments: [PINMode.checked, .camouflaged])
    func killed(_ mode: PINMode) throws {
      let rig = try PINVault(mode)
      let random = SeededRandom(seed: Scale.seed)
      let kills = Scale.pick(10, long: 500)
      var said: [String] = []
      for _ in 0..<kills {
        let process = try torture("pin-codes", rig.vault.folder, "account 1", "8306")
        // Killed after it began: the time of its start differs too much.
        _ = process.line()
        usleep(UInt32(random.below(20_000)))
        process.kill()
        said += process.lines()
        process.wait()
      }
      let counters = said.compactMap { $0.split(separator: " ").first.flatMap { UInt64($0) } }
      expect(counters.count, equals: said.count, "\(said.filter { $0.contains("ERROR") })")
      expect(Set(counters).count, equals: counters.count)
      for line in said.prefix(200) {
        let words = line.split(separator: " ")
        try expect(String(words[1]), equals: PINVault.code(UInt64(words[0])!))
      }
      #expect(!said.isEmpty)
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
      let rig = try PINVault(mode, limit: 20, accounts: accounts)
      let random = SeededRandom(seed: Scale.seed)
      var now = "8306"
      for _ in 0..<kills {
        let other = now == "8306" ? "2749" : "8306"
        let process = try torture("pin-change", rig.vault.folder, rig.name, now, other)
        let first = process.line().map { [$0] } ?? []
        usleep(UInt32(random.below(30_000)))
        process.kill()
        let told = first + process.lines()
        process.wait()
        try letLapse(rig)
        #expect(!told.contains { $0.hasPrefix("ERROR") }, "\(told)")
        now = try judge(
          rig, accounts,
          possible: told.last?.hasPrefix("< ") == true ? [String(told.last!.dropFirst(2))] : [now, other])
      }
      report("B2, \(mode): \(kills) kills in changes of the PIN of \(accounts) accounts, seed \(Scale.seed)")
    }

    /// Waits for so long that killed attempts count as failures, which the next right PIN ends: too many at once would block
    /// the PIN.
    private func letLapse(_ rig: PINVault) throws {
      let core = try rig.vault.openCore()
      let underWay = try core.state(of: core.item(named: rig.name).id).attemptsUnderWay
      if underWay > 8 { usleep(UInt32(PINAttempts.verdictMilliseconds + 200) * 1000) }
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
