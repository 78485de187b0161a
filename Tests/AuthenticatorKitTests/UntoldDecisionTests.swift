import AuthenticatorKit
import OneTimePassword
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// Decisions that a server does not have (docs/security/invariants.md, *What was decided is told*).
@Suite("Decisions that a server does not have", .bounded)
struct UntoldDecisionTests {
  private static let lost = VaultError(peer: "NETWORK", "away")
  private static let unsent = VaultError(peer: "NETWORK", "away", isUnsent: true)

  /// Verified to fail when a request that did not arrive is not sent again.
  @Test("a decision that surely did not arrive is sent again at once", .requirement("B6"))
  func unsent() throws {
    let scene = try TransactionScene()
    let id = try scene.pushed()
    scene.server.failOnce(.transactionAnswer, Self.unsent)
    let decision = try scene.accept(id, scene.context(pin: "8306"))
    #expect(decision.transaction.status == .accepted && decision.transaction.delivery == .told)
    let sent = scene.server.requests.filter { $0.operation == .transactionAnswer }.map(\.fields)
    #expect(sent.count == 2 && sent[0].word("code") == sent[1].word("code"))
    expect(scene.server.answers.count, equals: 1)
    try expect(scene.uses(), equals: [6, 0, 10, 5])
    try scene.expectNothingKept()
  }

  enum Way: CaseIterable { case pin, device, biometry, suite, rejected, cancelled }

  /// Verified to fail when the code stays in the item.
  @Test(
    "a lost decision is told at the next contact, with the same name and code", .requirement("B6"),
    arguments: Way.allCases, [false, true])
  func nextContact(way: Way, reachesServer: Bool) throws {
    let scene = try TransactionScene(suite: way == .suite ? TransactionScene.suite : nil)
    let id = try scene.pushed(types: ["pin", "device", "biometry"])
    let fault = FaultOnce(.transactionAnswer, Self.lost)
    if reachesServer { scene.server.afterwards(fault.hook) } else { scene.server.before(fault.hook) }
    let error = thrown { () throws(VaultError) in try scene.decide(id, way) }
    #expect(error?.code == .network && error?.advice == .receiveTransactions)
    try expect(scene.summary(id).delivery, equals: .untold)
    let uses = try scene.uses()
    scene.server.push()
    try expect(scene.receive()?.transaction.alias, equals: "t-2")
    let sent = scene.server.requests.filter { $0.operation == .transactionAnswer }.map(\.fields)
    expect(sent.count, equals: 2)
    for member in ["alias", "decision", "type", "code"] {
      expect(sent[0].word(member), equals: sent[1].word(member))
    }
    #expect(sent[0].count("counter") == sent[1].count("counter"))
    #expect(try scene.summary(id).delivery == .told && scene.uses() == uses)
    try scene.expectNothingKept()
    // It is told once.
    _ = try scene.receive()
    expect(scene.server.requests.count { $0.operation == .transactionAnswer }, equals: 2)
    try expect(scene.core.verify().problems, equals: [])
  }

  /// Verified to fail when the delivery is not looked at again: the item without its code is "damaged".
  @Test("a decision that another process tells meanwhile is final, and not damage", .requirement("B6"))
  func toldMeanwhile() throws {
    let scene = try TransactionScene()
    let id = try scene.pushed()
    scene.server.failOnce(.transactionAnswer, Self.lost)
    expect(.network) { () throws(VaultError) in try scene.decide(id, .pin) }
    let transport = TransportAfter(scene.server) { _ = try? scene.receive() }
    let error = thrown { () throws(VaultError) in
      _ = try scene.core.acceptTransaction(id, over: transport, context: try! scene.context(pin: "8306"))
    }
    #expect(error?.code == .wrongState && error?.message.contains("accepted already") == true)
    #expect(try scene.summary(id).delivery == .told && scene.server.answers.count == 1)
    try scene.expectNothingKept()
  }

  /// Verified to fail when the search ends with the first that is offered.
  @Test("a decision that is not told hides no later transaction", .requirement("B6", "A19"))
  func hidesNothing() throws {
    let scene = try TransactionScene()
    let first = try scene.pushed()
    for _ in 0..<3 { scene.server.push() }
    scene.server.before { request throws(VaultError) in
      if request.operation == .transactionAnswer { throw Self.lost }
    }
    expect(.network) { () throws(VaultError) in _ = try scene.accept(first, try! scene.context(pin: "8306")) }
    try expect(scene.receive()?.transaction.alias, equals: "t-2")
    let all = try scene.core.receiveTransactions(
      for: scene.bank, over: scene.server, context: scene.context())
    expect(all.found.map(\.transaction.alias), equals: ["t-1", "t-2", "t-3", "t-4"])
    #expect(!all.mayHaveMore && all.failure == nil)
    // Accepting and rejecting others goes on meanwhile, and all is told in the order of the codes.
    let others = try scene.core.transactions().filter { $0.status == .pending }.map(\.id)
    expect(.network) { () throws(VaultError) in
      _ = try scene.accept(others[0], try! scene.context(pin: "8306"))
    }
    expect(.network) { () throws(VaultError) in try scene.decide(others[1], .rejected) }
    scene.server.before(nil)
    try expect(scene.receive()?.transaction.alias, equals: "t-4")
    expect(scene.server.answers.compactMap { $0.word("alias") }, equals: ["t-3", "t-1", "t-2"])
    try scene.expectNothingKept()
  }

  @Test("a server that does not go on is asked one more time only", .requirement("A19"))
  func doesNotGoOn() throws {
    let scene = try TransactionScene()
    scene.server.goOn(false)
    for _ in 0..<2 { scene.server.push() }
    let all = try scene.core.receiveTransactions(
      for: scene.bank, over: scene.server, context: scene.context())
    #expect(all.found.map(\.transaction.alias) == ["t-1"] && all.mayHaveMore)
    expect(scene.server.requests.count, equals: 2)
  }

  /// Verified to fail when a refusal counts as no answer.
  @Test(
    "a server that refuses a decision ends it, and the person is told; what passes does not",
    .requirement("B6"),
    arguments: [
      ("CODE", true), ("STATE", true), ("TIMEOUT", true), ("FORBIDDEN", true), ("NODEVICE", true),
      ("NETWORK", false), ("OTHER", false), ("DESYNCHRONIZED", false), ("VERSION", false),
    ])
  func refused(word: String, isRefusal: Bool) throws {
    let scene = try TransactionScene()
    let (now, later) = (try scene.pushed(), try scene.other())
    let refuses: @Sendable (TransportRequest) throws(VaultError) -> Void = { request throws(VaultError) in
      if request.operation == .transactionAnswer { throw VaultError(peer: word, "no") }
    }
    scene.server.before(refuses)
    let error = try #require(thrown { () throws(VaultError) in try scene.decide(now, .pin) })
    #expect(isRefusal == error.message.contains("refuses"), "\(error.message)")
    try expect(scene.summary(now).delivery, equals: isRefusal ? .refused : .untold)
    scene.server.before { request throws(VaultError) in
      if request.operation == .transactionAnswer { throw Self.lost }
    }
    expect(.network) { () throws(VaultError) in try scene.decide(later, .device) }
    scene.server.before(refuses)
    let notices = try scene.core.receiveTransactions(
      for: scene.bank, over: scene.server, context: scene.context()
    ).notices
    #expect(notices.contains(.decisionRefused(alias: "t-2")) == isRefusal)
    try expect(scene.summary(later).delivery, equals: isRefusal ? .refused : .untold)
    if isRefusal { try scene.expectNothingKept() }
  }

  /// Verified to fail when the recovery of a decision follows its code alone.
  @Test("after a commit no error says to call again", .requirement("B6"), arguments: Way.allCases)
  func recovery(way: Way) throws {
    for word in ["NETWORK", "DESYNCHRONIZED", "STATE", "TIMEOUT", "OTHER"] {
      let scene = try TransactionScene(suite: way == .suite ? TransactionScene.suite : nil)
      let id = try scene.pushed(types: ["pin", "device", "biometry"])
      scene.server.failOnce(.transactionAnswer, VaultError(peer: word, "no"))
      let error = try #require(thrown { () throws(VaultError) in try scene.decide(id, way) })
      #expect(error.recovery.word == "nonRecoverable", "\(word): \(error.recovery)")
    }
  }

  /// Verified to fail when the code stays in the item.
  @Test("deciding again tells what the server does not have; another decision is refused", .requirement("B6"))
  func again() throws {
    let scene = try TransactionScene()
    for way in [Way.pin, .rejected, .cancelled] {
      let id = try scene.other()
      scene.server.failOnce(.transactionAnswer, Self.lost)
      expect(.network) { () throws(VaultError) in try scene.decide(id, way) }
      let (uses, others) = (try scene.uses(), Way.allCases.filter { $0.isDecline != way.isDecline })
      for other in others {
        expect(.wrongState) { () throws(VaultError) in try scene.decide(id, other) }
      }
      try scene.decide(id, way)
      #expect(try scene.summary(id).delivery == .told && scene.uses() == uses)
      expect(.wrongState) { () throws(VaultError) in try scene.decide(id, way) }
    }
    try scene.expectNothingKept()
  }

  @Test("a synchronization and a code online tell first", .requirement("B6"), arguments: [false, true])
  func otherContacts(isSynchronization: Bool) throws {
    let scene = try TransactionScene()
    let id = try scene.pushed()
    scene.server.failOnce(.transactionAnswer, Self.lost)
    expect(.network) { () throws(VaultError) in try scene.decide(id, .pin) }
    // The server of this test answers neither.
    expect(.network) { () throws(VaultError) in
      let context = try! scene.context(pin: "8306")
      if isSynchronization {
        _ = try scene.core.synchronize(scene.bank, over: scene.server, context: context)
      } else {
        _ = try scene.core.onlineCode(of: scene.bank, over: scene.server, context: context)
      }
    }
    try expect(scene.summary(id).delivery, equals: .told)
    let operations = scene.server.requests.map(\.operation).suffix(2)
    expect(Array(operations), equals: [.transactionAnswer, isSynchronization ? .synchronize : .onlineStart])
  }

  @Test("a decision that is not told is in no backup", .requirement("A19"))
  func backup() throws {
    let scene = try TransactionScene()
    let id = try scene.pushed()
    scene.server.failOnce(.transactionAnswer, Self.lost)
    expect(.network) { () throws(VaultError) in try scene.decide(id, .pin) }
    let report = try scene.core.backUp(
      to: scene.place.folder + "/data/b.vault", passphrase: Passcode(testing: "p"))
    #expect(report.leftOut.contains { $0.id == id })
  }
}

extension UntoldDecisionTests.Way {
  var isDecline: Bool { [.rejected, .cancelled].contains(self) }
}

extension TransactionScene {
  func summary(_ id: ItemID) throws -> PeerTransaction {
    try core.transactionDetails(of: id).transaction
  }

  /// Another one that waits here.
  func other() throws -> ItemID {
    try receive(PushPayload(alias: server.push(types: ["pin", "device", "biometry"])))!.id
  }

  func decide(_ id: ItemID, _ way: UntoldDecisionTests.Way) throws(VaultError) {
    switch way {
    case .pin, .suite:
      let context = AuthenticationContext(reason: "")
      context.provide(try PIN(SecretBytes(testing: "8306")))
      _ = try accept(id, by: .pin, context)
    case .device: _ = try accept(id, by: .device, asking(.confirm(true)).0)
    case .biometry:
      let context = AuthenticationContext(reason: "")
      context.provide(try BiometricPhrase(testing: "right"))
      _ = try accept(id, by: .biometry, context)
    case .rejected, .cancelled:
      let state: TransactionState = way == .rejected ? .rejected : .cancelled
      _ = try core.declineTransaction(
        id, as: state, over: server, context: AuthenticationContext(reason: ""))
    }
  }

  /// No item has what a server is to get.
  func expectNothingKept() throws {
    for item in try core.items(matching: Query(.transaction)) {
      let answer = try core.storedAnswer(of: item)
      #expect(answer == nil && item.attributes.delivery != .untold)
    }
  }
}

extension VaultCore {
  /// What the data of a transaction keeps for its server.
  func storedAnswer(of item: Item) throws(VaultError) -> TransactionRecord.Answer? {
    try reading { transaction throws(VaultError) in
      try TransactionRecord(transaction.useSecret(of: item, by: .transaction).secret).answer
    }
  }
}

extension TransactionServer {
  /// The next request of this operation fails before the server has it.
  func failOnce(_ operation: TransportOperation, _ error: VaultError) {
    before(FaultOnce(operation, error).hook)
  }
}

/// A transport with something that happens once: before it is compared with that of the credential.
private final class TransportAfter: Transport {
  private let server: TransactionServer
  private let event: @Sendable () -> Void
  private let hasHappened = Atomic(false)

  init(_ server: TransactionServer, _ event: @escaping @Sendable () -> Void) {
    (self.server, self.event) = (server, event)
  }

  var identity: String {
    if !hasHappened.exchange(true, ordering: .sequentiallyConsistent) { event() }
    return server.identity
  }

  func send(_ request: TransportRequest) throws(VaultError) -> TransportAnswer { try server.send(request) }
}
