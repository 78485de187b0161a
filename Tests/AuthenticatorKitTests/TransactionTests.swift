import AuthenticatorKit
import OneTimePassword
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Transactions that a server sends", .bounded)
struct TransactionTests {
  @Test(
    "none, one and two wait; none is no error, and the next comes after a decision", .requirement("A19", "B8")
  )
  func pending() throws {
    let scene = try TransactionScene()
    #expect(try scene.receive() == nil && scene.core.transactions().isEmpty)
    let asked = scene.server.requests[0].fields
    #expect(asked.word("peer") == "c-17" && asked.word("device") == String(repeating: "07", count: 16))
    #expect(asked["alias"] == nil && asked["type"] == nil)
    scene.server.push()
    scene.server.push()
    let first = try #require(try scene.receive())
    #expect(first.transaction.alias == "t-1" && first.action == .authenticate)
    #expect(first.context?.text == TransactionScene.text && first.offered == [.pin])
    #expect(first.transaction.status == .pending && first.transaction.secondsLeft == 70)
    // The server gives the same one until it is decided, and its time goes on.
    scene.clock.advance(by: .seconds(10))
    let again = try #require(try scene.receive())
    #expect(again.id == first.id && again.transaction.secondsLeft == 60)
    _ = try scene.core.declineTransaction(
      first.id, as: .rejected, over: scene.server, context: scene.context())
    try expect(scene.receive()?.transaction.alias, equals: "t-2")
    try expect(scene.core.transactions().map(\.alias), equals: ["t-2", "t-1"])
    try expect(scene.logged(.transactionReceived), equals: 2)
    try expect(scene.core.verify().problems, equals: [])
  }

  @Test("OTHER says that none waits, and other errors of the server stay errors", .requirement("A19"))
  func other() throws {
    let scene = try TransactionScene()
    scene.server.before { _ throws(VaultError) in throw VaultError(peer: "OTHER", "none") }
    #expect(try scene.receive() == nil)
    scene.server.before { _ throws(VaultError) in throw VaultError(peer: "BLOCKED", "blocked") }
    expect(.blocked) { () throws(VaultError) in
      _ = try scene.core.receiveTransaction(
        for: scene.bank, over: scene.server, context: try! scene.context())
    }
  }

  /// Verified to fail when the names of the message are listed.
  @Test(
    "a push names the transaction and its action; of what it says besides only the time counts",
    .requirement("B8"))
  func push() throws {
    let scene = try TransactionScene()
    scene.server.push()
    let second = scene.server.push()
    var push = try PushPayload(alias: second)
    (push.action, push.serviceName, push.deviceAlias, push.secondsToLive) = (
      .authenticate, "Bank", "laptop", 20
    )
    let received = try #require(try scene.receive(push))
    #expect(received.transaction.alias == second && received.transaction.secondsLeft == 20)
    #expect(received.transaction.serviceName == nil && received.transaction.deviceAlias == nil)
    let asked = try #require(scene.server.requests.last?.fields)
    #expect(asked.word("alias") == second && asked.word("type") == "authenticate")
    #expect(try scene.receive(PushPayload(alias: "gone")) == nil)
    for alias in ["", String(repeating: "x", count: 65), "a\nb", "a\u{202E}b"] {
      expect(.malformed) { () throws(VaultError) in _ = try PushPayload(alias: alias) }
    }
    // Another action than the push said is another transaction.
    push.action = .activate
    expect(.network) { () throws(VaultError) in
      _ = try scene.core.receiveTransaction(
        for: scene.bank, push: push, over: scene.server, context: try! scene.context())
    }
  }

  /// Verified to fail when the deadline follows the wall clock, and when a timeout is logged at each look.
  @Test(
    "it waits 70 s by the clock since boot, unless the peer says; then it is timed out, once",
    .requirement("A19"))
  func deadline() throws {
    let scene = try TransactionScene()
    let first = try scene.pushed()
    scene.clock.advance(by: .seconds(69))
    try expect(scene.status(first), equals: .pending)
    try expect(scene.core.transactions().first?.secondsLeft, equals: 1)
    // The wall clock decides nothing.
    scene.clock.set(to: Instant(seconds: scene.clock.now().seconds - 3600))
    scene.clock.advance(by: .seconds(2))
    try expect(scene.core.transactions().first?.status, equals: .timedOut)
    try expect(scene.core.transactions().first?.status, equals: .timedOut)
    #expect(try scene.status(first) == .timedOut && scene.logged(.transactionTimedOut) == 1)
    expect(.expired) { () throws(VaultError) in
      _ = try scene.accept(first, try! scene.context(pin: "8306"))
    }
    for state in [TransactionState.rejected, .cancelled] {
      expect(.expired) { () throws(VaultError) in
        _ = try scene.core.declineTransaction(
          first, as: state, over: scene.server, context: try! scene.context())
      }
    }
    #expect(try scene.uses() == [5, 0, 10, 5] && scene.server.answers.isEmpty)

    scene.server.forget()
    scene.server.push(life: 300)
    let second = try #require(try scene.receive()).id
    scene.clock.set(to: Instant(seconds: scene.clock.now().seconds + 3000))
    scene.clock.advance(by: .seconds(299))
    try expect(scene.status(second), equals: .pending)
    scene.clock.reboot()
    // The first write that looks at it records it.
    expect(.expired) { () throws(VaultError) in
      _ = try scene.accept(second, try! scene.context(pin: "8306"))
    }
    try expect(scene.logged(.transactionTimedOut), equals: 2)
    try expect(scene.core.verify().problems, equals: [])
  }

  /// Verified to fail when a time that cannot be judged is recorded as over.
  @Test(
    "without a boot id no transaction is stored, and one that waits counts as timed out", .requirement("A19"))
  func noBoot() throws {
    let scene = try TransactionScene()
    let first = try scene.pushed()
    scene.server.push()
    let blind = try VaultCore.open(
      at: scene.place.path, protector: scene.place.protector,
      environment: .testing(clock: BootlessClock(clock: scene.clock)))
    try blind.unlock(with: Passcode(testing: "passcode"))
    try expect(blind.transactionDetails(of: first).transaction.status, equals: .timedOut)
    try expect(scene.status(first), equals: .pending)
    scene.server.forget()
    scene.server.push()
    expect(.io) { () throws(VaultError) in
      _ = try blind.receiveTransaction(for: scene.bank, over: scene.server, context: try! scene.context())
    }
    try expect(blind.transactions().count, equals: 1)
  }

  @Test("it is kept for a day, on this device, and in no backup; then it is gone", .requirement("A19"))
  func kept() throws {
    let scene = try TransactionScene()
    let id = try scene.pushed()
    let item = try scene.core.items(matching: Query(id: id))[0]
    expect(item.access, equals: AccessControl(.whenUnlocked, thisDeviceOnly: true))
    expect(item.expires, equals: Instant(seconds: scene.clock.now().seconds + 70 + 24 * 3600))
    expect(.policy) { () throws(VaultError) in _ = try scene.core.secret(of: id) }
    var changes = ItemChanges()
    changes.attributes[.label] = "t-9"
    expect(.policy) { () throws(VaultError) in try scene.core.update(id, changes) }
    changes = ItemChanges()
    changes.attributes[.comment] = "mine"
    try scene.core.update(id, changes)
    let report = try scene.core.backUp(
      to: scene.place.folder + "/data/b.vault", passphrase: Passcode(testing: "p"))
    #expect(report.leftOut.contains { $0.id == id })
    scene.clock.advance(by: .seconds(23 * 3600))
    try expect(scene.core.transactions().map(\.id), equals: [id])
    scene.clock.advance(by: .seconds(2 * 3600))
    #expect(try scene.core.transactions().isEmpty)
    // A server that offers it still finds nothing of it in the way.
    #expect(try #require(try scene.receive()).id != id && scene.core.transactions().count == 1)
    try scene.core.pass(.seconds(3 * 24 * 3600), on: scene.clock)
    #expect(try scene.place.openCore().items(matching: Query(.transaction)).isEmpty)
  }

  /// Verified to fail when the wall clock alone says that its day is over.
  @Test("a clock that is set ahead gives no second decision", .requirement("A19", "B6"))
  func clockAhead() throws {
    let scene = try TransactionScene()
    let id = try scene.pushed()
    // The server did not learn of it, and offers it again.
    try scene.end(id, as: .accepted)
    let now = scene.clock.now()
    func expectKept() throws {
      try expect(scene.core.transactions().map(\.status), equals: [.accepted])
      expect(.expired) { () throws(VaultError) in
        _ = try scene.core.receiveTransaction(
          for: scene.bank, over: scene.server, context: try! scene.context())
      }
    }
    scene.clock.set(to: Instant(seconds: now.seconds + 25 * 3600 + 71))
    try expectKept()
    scene.clock.set(to: now)
    try expect(scene.receive(PushPayload(alias: "t-1"))?.transaction.status, equals: .accepted)
    // Only the wall clock tells how long a machine was off, and it is not believed at once.
    scene.clock.reboot()
    scene.clock.set(to: Instant(seconds: now.seconds + 25 * 3600 + 71))
    try expectKept()
  }

  /// Verified to fail when the wall clock alone is asked within the boot.
  @Test(
    "a clock that is set ahead gives no second decision after a change of the vault",
    .requirement("A19", "B6"))
  func clockAheadAndChanges() throws {
    let scene = try TransactionScene()
    let id = try scene.pushed()
    try scene.end(id, as: .accepted)
    let now = scene.clock.now()
    scene.clock.set(to: Instant(seconds: now.seconds + 25 * 3600 + 71))
    // No change lets the recorded time rise, because no time passed since boot.
    _ = try scene.core.add(NewItem(.genericPassword), secret: SecretBytes(testing: "x"))
    let other = try scene.place.openCore()
    try other.unlock(with: Passcode(testing: "passcode"))
    try expect(other.transactions().map(\.status), equals: [.accepted])
    expect(.expired) { () throws(VaultError) in
      _ = try other.receiveTransaction(
        for: scene.bank, over: scene.server, context: try! scene.context())
    }
    // A day further, and it would be deleted as an item that expired a day ago.
    _ = try other.add(NewItem(.genericPassword, name: "y"), secret: SecretBytes(testing: "y"))
    scene.clock.set(to: Instant(seconds: now.seconds + 49 * 3600 + 71))
    try expect(scene.place.openCore().transactions().map(\.status), equals: [.accepted])
    scene.clock.set(to: now)
    try expect(scene.core.transactions().map(\.status), equals: [.accepted])
  }

  /// A process can give itself another clock since boot, by a time namespace. Verified to fail when that clock alone is asked.
  @Test("a clock since boot that is ahead gives no second decision", .requirement("A19", "B6"))
  func bootClockAhead() throws {
    let scene = try TransactionScene()
    let id = try scene.pushed()
    try scene.end(id, as: .accepted)
    let now = scene.clock.now()
    scene.clock.advance(by: .seconds(25 * 3600 + 71))
    scene.clock.set(to: now)
    try expect(scene.core.transactions().map(\.status), equals: [.accepted])
    let found = try #require(try scene.receive(PushPayload(alias: "t-1")))
    #expect(found.id == id && found.transaction.status == .accepted)
  }

  /// Verified to fail when the purge takes a boot that it cannot tell for another one.
  @Test("a purge where the boot cannot be told keeps what was decided", .requirement("A19", "B6"))
  func purgeWithoutBoot() throws {
    let scene = try TransactionScene()
    let id = try scene.pushed()
    try scene.end(id, as: .accepted)
    try scene.core.pass(.seconds(60 * 3600), on: scene.clock)
    let place = scene.place
    _ = try VaultCore.open(
      at: place.path, protector: place.protector,
      environment: .testing(clock: BootlessClock(clock: scene.clock)))
    try expect(scene.core.items(matching: Query(.transaction)).map(\.id), equals: [id])
  }

  /// Verified to fail when the expiry of its item ends its use.
  @Test("a wall clock that is set ahead does not end one that waits", .requirement("A19", "B6"))
  func waitsUnderClockAhead() throws {
    let scene = try TransactionScene()
    let id = try scene.pushed()
    scene.clock.set(to: Instant(seconds: scene.clock.now().seconds + 25 * 3600))
    try expect(scene.status(id), equals: .pending)
    _ = try scene.accept(id, scene.context(pin: "8306"))
    try expect(scene.status(id), equals: .accepted)
    expect(.wrongState) { () throws(VaultError) in
      _ = try scene.accept(id, try! scene.context(pin: "8306"))
    }
  }

  @Test("a rotation keeps it, it has no name to change, and it can be deleted", .requirement("A19"))
  func asItem() throws {
    let scene = try TransactionScene()
    let id = try scene.pushed()
    try scene.core.rotateEpoch(passcode: Passcode(testing: "passcode"))
    try expect(scene.receive()?.id, equals: id)
    try expect(scene.core.transactionDetails(of: id).context?.text, equals: TransactionScene.text)
    var changes = ItemChanges()
    changes.attributes[.name] = "mine"
    expect(.policy) { () throws(VaultError) in try scene.core.update(id, changes) }
    _ = try scene.accept(id, scene.context(pin: "8306"))
    try expect(scene.core.verify().problems, equals: [])
    try scene.core.delete(id)
    #expect(try scene.core.transactions().isEmpty)
  }

  /// Each leaves the vault as it was.
  @Test("an answer out of its bounds is a failure of the peer, and stores nothing", .requirement("A19"))
  func malformed() throws {
    let scene = try TransactionScene()
    let good = TransportFields(["alias": .text("t"), "types": .texts(["pin"])])
    func with(_ name: String, _ value: TransportValue?) -> TransportFields {
      var fields = good
      fields[name] = value
      return fields
    }
    let before = try scene.core.status().sequence
    for (fields, code) in [
      (with("alias", nil), .network), (with("alias", .text("")), .network),
      (with("alias", .text(String(repeating: "x", count: 65))), .network),
      (with("alias", .text("a\nb")), .network), (with("alias", .number(1)), .network),
      (with("action", .text("pay")), .network), (with("action", .flag(true)), .network),
      (with("types", .texts([])), .network), (with("types", .texts(["eyes"])), .network),
      (with("types", .text("pin")), .network), (with("lifeSeconds", .number(0)), .network),
      (with("lifeSeconds", .number(315_360_000)), .network), (with("lifeSeconds", .text("70")), .network),
      (with("service", .number(1)), .network), (with("context", .number(1)), .network),
      (with("serviceName", .text(String(repeating: "x", count: 256))), .network),
    ] as [(TransportFields, VaultError.Code)] {
      scene.server.forget()
      scene.server.push(fields)
      expect(code) { () throws(VaultError) in
        _ = try scene.core.receiveTransaction(
          for: scene.bank, over: scene.server, context: try! scene.context())
      }
    }
    try expect(scene.core.status().sequence, equals: before)
    // Nothing of it stays in the way of the next one.
    scene.server.forget()
    scene.server.push(with("context", .text(String(repeating: "x", count: 4096))))
    scene.server.push(with("types", .texts(["eyes", "pin", "pin"])))
    try expect(scene.receive()?.context?.text.utf8.count, equals: 4096)
  }

  /// Verified to fail when they stay without their credential.
  @Test("a credential that is deleted takes its transactions with it", .requirement("A19"))
  func withoutCredential() throws {
    let scene = try TransactionScene()
    _ = try scene.pushed()
    let uri = try OTPAuthURI(
      kind: .hotp(counter: 0), account: "a", secret: SecretBytes(copying: TransactionScene.key))
    let shop = try scene.core.addOTP(uri, named: "shop").item.id
    try scene.core.activate(shop, mode: [])
    let other = try #require(
      try scene.core.receiveTransaction(for: shop, over: scene.server, context: scene.context()))
    try scene.core.delete(scene.bank)
    try expect(scene.core.transactions().map(\.id), equals: [other.id])
    try expect(scene.core.verify().problems, equals: [])
  }

  /// Verified to fail when the credential of a transaction with the same name is not compared.
  @Test("credentials of two servers with the same names have each their own", .requirement("A19"))
  func sameNames() throws {
    let scene = try TransactionScene()
    let uri = try OTPAuthURI(
      kind: .hotp(counter: 0), account: "a", secret: SecretBytes(copying: TransactionScene.key))
    let shop = try scene.core.addOTP(uri, named: "shop").item.id
    try scene.core.activate(shop, mode: [])
    let first = try scene.pushed()
    let other = try scene.core.receiveTransaction(for: shop, over: scene.server, context: scene.context())
    #expect(other?.transaction.alias == "t-1" && other?.id != first && other?.transaction.credential == shop)
  }

  /// One request about it would be one about the credential to which it belongs. Verified to fail when a device credential has
  /// the name of that one at the peer.
  @Test(
    "a server is not asked about a device credential, so no transaction is stored twice",
    .requirement("A19", "B6"))
  func deviceCredential() throws {
    let scene = try TransactionScene()
    _ = try scene.pushed(types: ["device"])
    let asked = scene.server.requests.count
    expect(.policy) { () throws(VaultError) in
      _ = try scene.core.receiveTransaction(
        for: scene.device, over: scene.server, context: try! scene.context())
    }
    expect(.policy) { () throws(VaultError) in
      _ = try scene.core.synchronize(scene.device, over: scene.server)
    }
    expect(.policy) { () throws(VaultError) in
      _ = try scene.core.onlineCode(of: scene.device, over: scene.server)
    }
    expect(.policy) { () throws(VaultError) in
      try scene.core.disableCredential(scene.device, over: scene.server)
    }
    try expect(scene.core.credentials(over: scene.server).map(\.id), equals: [scene.bank])
    // Also where its credential has gone to another transport.
    var changes = ItemChanges()
    changes.attributes[Attribute<String>(code: 75)] = "/opt/other"
    try scene.core.writing { transaction throws(VaultError) in
      _ = try transaction.update(scene.bank, changes, secret: nil, by: Component(.otp))
    }
    #expect(try scene.core.credentials(over: scene.server).isEmpty)
    #expect(try scene.server.requests.count == asked && scene.core.transactions().count == 1)
  }

  @Test("a credential without a server has none, and one that makes no codes gets none", .requirement("A19"))
  func states() throws {
    let scene = try TransactionScene()
    let uri = try OTPAuthURI(
      kind: .hotp(counter: 0), account: "a", secret: SecretBytes(copying: TransactionScene.key))
    let local = try scene.core.addOTP(uri, named: "local").item.id
    func refusal(_ id: ItemID) -> VaultError.Code? {
      thrown { () throws(VaultError) in
        _ = try scene.core.receiveTransaction(for: id, over: scene.server, context: try! scene.context())
      }?.code
    }
    #expect(refusal(local) == .policy && refusal(scene.pin) == .itemNotFound)
    let id = try scene.pushed()
    let asked = scene.server.requests.count
    for (state, code) in [
      (CredentialState.blocked, .blocked), (.disabled, .wrongState), (.started, .wrongState),
    ] as [(CredentialState, VaultError.Code)] {
      try scene.core.writing { transaction throws(VaultError) in
        try transaction.changeState(of: scene.bank) { $0.set(state) }
      }
      expect(refusal(scene.bank), equals: code)
      expect(code) { () throws(VaultError) in _ = try scene.accept(id, try! scene.context(pin: "8306")) }
    }
    expect(scene.server.requests.count, equals: asked)
    #expect(try scene.uses() == [5, 0, 10, 5] && scene.status(id) == .pending)
  }
}

/// A clock that cannot tell the boot.
private struct BootlessClock: VaultClock {
  let clock: FixedClock

  func now() -> Instant { clock.now() }
  func bootMilliseconds() -> UInt64 { clock.bootMilliseconds() }
  func bootID() -> [UInt8]? { nil }
}
