import AuthenticatorKit
import Foundation
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// Random decisions with a server whose answers are lost at random, against what a careful server would write down
/// (docs/security/invariants.md, *What was decided is told*).
///
/// `TORTURE_SEED` replaces the seeds. Verified to fail when a refusal counts as no answer, and when the code stays in the item.
@Suite("Decisions with lost answers, by generated sequences", .bounded)
struct ToldModelTests {
  static let seeds: [UInt64] =
    ProcessInfo.processInfo.environment["TORTURE_SEED"].flatMap(UInt64.init).map { [$0] } ?? Array(1...6)

  @Test(
    "whatever is lost, the server has each decision in the end, once, or it refused it",
    .requirement("B6", "A19"), arguments: seeds)
  func walk(seed: UInt64) throws {
    let scene = try TransactionScene(suite: seed % 2 == 0 ? TransactionScene.suite : nil)
    let faults = RandomFaults(seed: seed)
    scene.server.before(faults.before)
    scene.server.afterwards(faults.afterwards)
    var (decided, random): ([String: UntoldDecisionTests.Way], _) = ([:], SeededGenerator(seed: seed))
    for _ in 0..<60 {
      switch Int.random(in: 0..<4, using: &random) {
      case 0: scene.server.push(types: ["pin", "device", "biometry"], life: 2_000_000)
      case 1: try? scene.receiveAll()
      default:
        let pending = try scene.core.transactions().filter { $0.status == .pending }
        guard let one = pending.randomElement(using: &random),
          let way = UntoldDecisionTests.Way.allCases.randomElement(using: &random)
        else { continue }
        try? scene.decide(one.id, way)
        if try scene.summary(one.id).status != .pending { decided[one.alias] = way }
      }
      expect(scene.conflicts(), equals: [], "seed \(seed)")
    }
    faults.stop()
    for _ in 0..<3 { try scene.receiveAll() }
    try scene.expectAllTold(decided, refused: faults.refused, seed)
  }
}

/// Loses requests and answers, and refuses some for good.
private final class RandomFaults: Sendable {
  private struct State {
    var random: SeededGenerator
    var isOver = false
    var refused: Set<String> = []
  }
  private let state: Mutex<State>

  init(seed: UInt64) { state = Mutex(State(random: SeededGenerator(seed: seed ^ 0xFA17))) }

  var refused: Set<String> { state.withLock(\.refused) }
  func stop() { state.withLock { $0.isOver = true } }

  var before: @Sendable (TransportRequest) throws(VaultError) -> Void {
    { request throws(VaultError) in
      let error = self.state.withLock { state -> VaultError? in
        guard let alias = request.fields.word("alias"), request.operation == .transactionAnswer else {
          return state.isOver || Int.random(in: 0..<5, using: &state.random) > 0
            ? nil : VaultError(peer: "NETWORK", "away")
        }
        if state.refused.contains(alias) { return VaultError(peer: "FORBIDDEN", "no") }
        guard !state.isOver else { return nil }
        switch Int.random(in: 0..<10, using: &state.random) {
        case 0...2: return VaultError(peer: "NETWORK", "away")
        case 3: return VaultError(peer: "NETWORK", "away", isUnsent: true)
        case 4: return VaultError(peer: "OTHER", "a proxy is in the way")
        case 5:
          state.refused.insert(alias)
          return VaultError(peer: "FORBIDDEN", "no")
        default: return nil
        }
      }
      if let error { throw error }
    }
  }

  /// The server has done what it was asked for, and nobody hears of it.
  var afterwards: @Sendable (TransportRequest) throws(VaultError) -> Void {
    { _ throws(VaultError) in
      let isLost = self.state.withLock { !$0.isOver && Int.random(in: 0..<3, using: &$0.random) == 0 }
      if isLost { throw VaultError(peer: "NETWORK", "away") }
    }
  }
}

extension TransactionScene {
  fileprivate func receiveAll() throws {
    _ = try core.receiveTransactions(for: bank, over: server, context: context())
  }

  /// The names of transactions about which the server was told two things.
  fileprivate func conflicts() -> [String] {
    var (known, conflicts): ([String: [String?]], Set<String>) = ([:], [])
    for request in server.requests where request.operation == .transactionAnswer {
      let fields = request.fields
      let told =
        ["decision", "type", "code"].map { fields.word($0) } + [fields.count("counter").map { "\($0)" }]
      let alias = fields.word("alias") ?? ""
      if let before = known[alias], before != told { conflicts.insert(alias) }
      known[alias] = told
    }
    return conflicts.sorted()
  }

  fileprivate func expectAllTold(
    _ decided: [String: UntoldDecisionTests.Way], refused: Set<String>, _ seed: UInt64
  ) throws {
    let stored = try core.transactions()
    #expect(!decided.isEmpty, "seed \(seed)")
    for (alias, way) in decided {
      let one = try #require(stored.first { $0.alias == alias })
      let told = server.answers.last { $0.word("alias") == alias }?.word("decision")
      let isRefused = refused.contains(alias) && told == nil
      expect(one.delivery, equals: refused.contains(alias) ? .refused : .told, "seed \(seed): \(alias)")
      let expected = way.isDecline ? (way == .rejected ? "reject" : "cancel") : "accept"
      expect(told, equals: isRefused ? nil : expected, "seed \(seed): \(alias)")
    }
    // And each that waits there waits here.
    let waiting = try core.receiveTransactions(for: bank, over: server, context: context())
    #expect(waiting.failure == nil && waiting.notices.isEmpty, "seed \(seed)")
    try expectNothingKept()
    try expect(core.verify().problems, equals: [], "seed \(seed)")
  }
}
