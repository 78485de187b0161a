import AuthenticatorKit
import Foundation
import TestSupport
import Testing
import VaultKit
import VaultTestKit

extension Torture {
  /// R4. Verified to fail when the counter is written back unchanged once in 97 codes.
  @Suite("Many processes, one counter", .bounded, .requirement("R4"), .serialized)
  struct Counters {
    @Test("fifty processes get distinct codes in one row of counters, and no error")
    func distinct() throws {
      let (processes, each) = (50, Scale.pick(120, long: 1_000))
      let vault = TemporaryVault(in: Place.fast)
      try vault.makeCore().addTestHOTP("counter")
      let gate = try Gate()
      let all = try (0..<processes).map { _ in
        try torture("codes", vault.folder, "counter", "\(each)", gate: gate)
      }
      gate.open()
      let lines = all.flatMap { $0.lines() }
      #expect(all.allSatisfy { $0.wait() == 0 })
      report("R4: \(processes) processes, \(lines.count) codes, on \(Place.fast ?? "TMPDIR")")
      try check(lines, count: processes * each)
    }

    @Test("four shells at once get four hundred codes, none twice")
    func shells() async throws {
      let vault = TemporaryVault(in: Place.fast)
      try vault.makeCore().addTestHOTP("counter")
      let tool = try Tool(vault)
      let lines = try await lanes(4) { _ in
        try (0..<100).map { _ in try tool.run(["code", "counter", "--json"]) }
      }
      let codes = try lines.joined().map { try Reading.counterAndCode($0) }
      try check(codes, count: 400)
    }

    /// Every counter from 0 on once, each with its code.
    private func check(_ lines: [String], count: Int) throws {
      expect(lines.filter { $0.hasPrefix("ERROR") }, equals: [])
      let pairs = lines.compactMap { line -> (UInt64, String)? in
        let words = line.split(separator: " ")
        return words.count == 2 ? UInt64(words[0]).map { ($0, String(words[1])) } : nil
      }
      expect(pairs.count, equals: count)
      expect(pairs.map(\.0).sorted(), equals: Array(0..<UInt64(count)))
      for (counter, code) in pairs.prefix(500) { try expect(code, equals: Expected.code(counter)) }
    }
  }

  /// F5. Verified to fail when counter and last accepted code are not stored after an acceptance.
  @Suite("Single use", .bounded, .requirement("F5"), .serialized)
  struct SingleUse {
    @Test("of a hundred processes that submit one code exactly one is accepted, and none later")
    func oneOfHundred() throws {
      for round in 0..<Scale.pick(3, long: 30) {
        let vault = TemporaryVault(in: Place.fast)
        try vault.makeCore().addTestHOTP("verifier", role: .verifier)
        // Within the window of a new verifier.
        let code = try Expected.code(UInt64(round % 10))
        let gate = try Gate()
        let all = try (0..<100).map { _ in try torture("submit", vault.folder, "verifier", code, gate: gate) }
        gate.open()
        let answers = all.flatMap { $0.lines() }
        expect(answers.count, equals: 100)
        expect(answers.filter { $0 == "accepted" }.count, equals: 1)
        let refusals = Set(answers).subtracting(["accepted"])
        #expect(
          refusals.isSubset(of: ["refused alreadyUsed", "refused authenticationFailed", "refused lockedOut"]),
          "\(refusals)")
        #expect(try again(vault, code) != "accepted", "accepted again after a restart")
      }
    }

    @Test(
      "a used code is not new with spaces, other digits or a sign", arguments: ["spaces", "digits", "more"])
    func disguises(kind: String) throws {
      let vault = TemporaryVault(in: Place.fast)
      try vault.makeCore().addTestHOTP("verifier", role: .verifier)
      let code = try Expected.code(0)
      try expect(again(vault, code), equals: "accepted")
      let arabic = String(
        String.UnicodeScalarView(code.unicodeScalars.map { Unicode.Scalar($0.value - 48 + 0x660)! }))
      let disguises = [
        "spaces": [" " + code, code + " ", code.prefix(3) + " " + code.suffix(3), code + "\n", "\t" + code],
        "digits": [arabic], "more": ["+" + code, "0" + code, code + "\u{0}", "-" + code],
      ][kind]!
      for disguise in disguises where !disguise.contains("\u{0}") {
        // Blanks and dashes are how people group a code: it is the same code, which was used.
        let isGrouped = disguise.filter { $0.isASCII && $0.isNumber } == code && !disguise.contains("+")
        try expect(
          again(vault, disguise), equals: isGrouped ? "refused alreadyUsed" : "refused malformed",
          "\(disguise.debugDescription)")
      }
    }

    private func again(_ vault: TemporaryVault, _ code: String) throws -> String? {
      try torture("submit", vault.folder, "verifier", code).line()
    }
  }
}
