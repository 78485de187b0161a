import AuthenticatorKit
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// Texts that must not be shown (docs/security/invariants.md, *What was decided is told*).
@Suite("Transactions whose text must not be shown", .bounded)
struct HiddenTextTests {
  @Test(
    "it is kept, listed and rejected, not accepted, and hides nothing", .requirement("A19", "B6"),
    arguments: [
      "to \u{202E}annA", "a\u{200B}b", "tab\there", "line\r\nend", String(repeating: "€", count: 1366),
    ])
  func hidden(text: String) throws {
    let scene = try TransactionScene()
    scene.server.push(context: text)
    scene.server.push()
    let all = try scene.core.receiveTransactions(
      for: scene.bank, over: scene.server, context: scene.context())
    expect(all.found.map(\.transaction.alias), equals: ["t-1", "t-2"])
    let hidden = all.found[0]
    #expect(hidden.transaction.hasHiddenText && hidden.context == nil && hidden.choices.isEmpty)
    #expect(hidden.whyTextIsHidden != nil && !all.found[1].transaction.hasHiddenText)
    let stored = try scene.record(of: hidden.id)
    expect(stored.isCut, equals: text.utf8.count > 4096)
    #expect(text.hasPrefix(stored.context))
    #expect(stored.isCut ? stored.context.utf8.count > 4093 : stored.context == text)
    // Listed in a locked vault, too.
    try expect(scene.place.openCore().transactions().map(\.hasHiddenText), equals: [true, false])
    let error = thrown { () throws(VaultError) in
      _ = try scene.accept(hidden.id, by: .pin, try! scene.context(pin: "8306"))
    }
    #expect(try error?.code == .policy && scene.uses() == [5, 0, 10, 5])
    try scene.decide(hidden.id, .rejected)
    expect(scene.server.answers.map { $0.word("alias") }, equals: ["t-1"])
    try expect(scene.core.verify().problems, equals: [])
  }

  /// Verified to fail when the attribute alone decides what is shown.
  @Test("without its attribute it is not shown either", .requirement("B6"))
  func stripped() throws {
    let scene = try TransactionScene()
    for text in ["to \u{202E}annA", String(repeating: "x", count: 5000)] {
      scene.server.push(context: text)
      let id = try scene.receive()!.id
      var changes = ItemChanges()
      changes.removed = [94]
      _ = try scene.core.writing { transaction throws(VaultError) in
        try transaction.update(id, changes, secret: nil, by: .transaction)
      }
      let details = try scene.core.transactionDetails(of: id)
      #expect(details.context == nil && details.whyTextIsHidden != nil && details.choices.isEmpty)
      try scene.decide(id, .rejected)
    }
  }

  /// Verified to fail when all are stored.
  @Test("at most 32 wait; more are counted, and others are received all the same", .requirement("A19"))
  func most() throws {
    let scene = try TransactionScene()
    for _ in 0..<34 { scene.server.push(context: "a\u{200B}b") }
    let last = scene.server.push()
    var all = try scene.core.receiveTransactions(
      for: scene.bank, over: scene.server, context: scene.context())
    #expect(all.notKept == 2 && all.found.count == 33 && all.found.last?.transaction.alias == last)
    for found in all.found.prefix(2) { try scene.decide(found.id, .rejected) }
    all = try scene.core.receiveTransactions(for: scene.bank, over: scene.server, context: scene.context())
    #expect(all.notKept == 0 && all.found.count == 33)
  }

  @Test("one that is malformed hides nothing", .requirement("A19"))
  func malformed() throws {
    let scene = try TransactionScene()
    scene.server.push(TransportFields(["alias": .text("a"), "action": .text("dance")]))
    scene.server.push(TransportFields(["alias": .text("b"), "context": .number(3)]))
    scene.server.push(TransportFields(["alias": .text("c"), "types": .texts(["magic"])]))
    scene.server.push(
      TransportFields(["alias": .text("d"), "serviceName": .text("Cr\u{E9}dit\u{A0}Agricole")]))
    let all = try scene.core.receiveTransactions(
      for: scene.bank, over: scene.server, context: scene.context())
    #expect(all.found.map(\.transaction.alias) == ["d"] && all.failure?.code == .network)
    expect(all.found[0].transaction.serviceName, equals: "Cr\u{E9}dit\\u{A0}Agricole")
    try expect(scene.receive()?.transaction.alias, equals: "d")
  }
}

extension TransactionScene {
  func record(of id: ItemID) throws -> TransactionRecord {
    try core.reading { transaction throws(VaultError) in
      try TransactionRecord(transaction.useSecret(of: transaction.item(id), by: .transaction).secret)
    }
  }
}
