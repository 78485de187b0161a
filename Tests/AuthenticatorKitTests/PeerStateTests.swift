import AuthenticatorKit
import OneTimePassword
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// What an error of a server says about the state of a credential (docs/security/invariants.md, *A lost answer costs nothing*).
@Suite("Errors of a server that change the state", .bounded)
struct PeerStateTests {
  enum Call: CaseIterable { case synchronize, onlineCode, next, nextNamed, answer, login, disable }

  /// Verified to fail when only the answer of a synchronization is stored.
  @Test(
    "BLOCKED at any request blocks here, and an unlock can begin", .requirement("A21"),
    arguments: Call.allCases)
  func blocked(call: Call) throws {
    let scene = try TransactionScene()
    let error = try scene.answering("BLOCKED", to: call)
    #expect(error?.code == .blocked && error?.advice == .unlockCredential)
    try expect(scene.core.credentialStatus(of: scene.bank).state, equals: .blocked)
    let unlock = ScriptedTransport { _ throws(VaultError) in TransportFields(["unlock": .text("u-1")]) }
    try scene.core.startUnlock(of: scene.bank, over: unlock)
    try expect(scene.core.credentialStatus(of: scene.bank).state, equals: .unlockStarted)
  }

  /// Verified to fail when only the answer of a synchronization is stored.
  @Test(
    "STATE disables where it can only mean that", .requirement("A21"), arguments: Call.allCases)
  func state(call: Call) throws {
    let scene = try TransactionScene()
    try expect(scene.answering("STATE", to: call)?.code, equals: .wrongState)
    let isDisabled = [.synchronize, .onlineCode, .next, .login].contains(call)
    try expect(
      scene.core.credentialStatus(of: scene.bank).state, equals: isDisabled ? .disabled : .active)
    // Of the device credential too, and no key is gone.
    try expect(
      scene.core.credentialStatus(of: scene.device).state, equals: isDisabled ? .disabled : .active)
    for id in [scene.bank, scene.device] {
      #expect(try scene.core.items(matching: Query(id: id)).first?.hasSecret == true)
    }
  }

  /// Verified to fail when the answer alone disables the credential.
  @Test(
    "NODEVICE changes nothing, and the person can disable the credential", .requirement("A21"),
    arguments: Call.allCases)
  func unknown(call: Call) throws {
    let scene = try TransactionScene()
    let error = try scene.answering("NODEVICE", to: call)
    try expect(scene.core.credentialStatus(of: scene.bank).state, equals: .active)
    #expect(error?.code == .deviceUnknown && error?.advice == .disableCredential)
    let unknown = ScriptedTransport { _ throws(VaultError) in throw VaultError(peer: "NODEVICE", "who?") }
    try scene.core.disableCredential(scene.bank, evenIfUnknown: true, over: unknown)
    try expect(scene.core.credentialStatus(of: scene.bank).state, equals: .disabled)
    #expect(try scene.core.items(matching: Query(id: scene.bank)).first?.hasSecret == true)
  }

  @Test("no other error changes the state", arguments: Call.allCases)
  func others(call: Call) throws {
    for word in ["NETWORK", "CODE", "ACCESS", "VERSION", "FORBIDDEN", "TIMEOUT", "DESYNCHRONIZED", "OTHER"] {
      let scene = try TransactionScene()
      _ = try scene.answering(word, to: call)
      try expect(scene.core.credentialStatus(of: scene.bank).state, equals: .active, "\(word)")
    }
  }

  enum Situation: CaseIterable { case server, unlockKey, nothing }

  /// Verified to fail when the server is not looked for.
  @Test("a blocked PIN advises what ends the block", arguments: Situation.allCases)
  func advice(situation: Situation) throws {
    let scene = try TransactionScene()
    var pin = scene.pin
    if situation != .server {
      var new = NewPINItem(.checked)
      new.name = "other"
      if situation == .unlockKey { new.unlockKey = try PINUnlockKey.fresh() }
      pin = try scene.core.makePIN(new, context: BiokeyScene.given(new: "5207")).id
    }
    try scene.core.writing { transaction throws(VaultError) in
      try transaction.changeState(of: pin) { $0.isBlocked = true }
    }
    let error = thrown { () throws(VaultError) in
      _ = try scene.core.verifyPIN(pin, context: try! scene.context(pin: "8306"))
    }
    #expect(error?.code == .blocked)
    let expected: Hint? =
      switch situation {
      case .server: .unlockCredential
      case .unlockKey: .unlockPIN
      case .nothing: nil
      }
    if let expected { expect(error?.advice, equals: expected) }
    // Where nothing ends the block, no command is advised.
    #expect(error?.hint != nil && (expected != nil || error?.advice?.toolSentence == error?.hint))
  }
}

extension TransactionScene {
  /// What a call throws whose request is answered with this error.
  fileprivate func answering(_ word: String, to call: PeerStateTests.Call) throws -> VaultError? {
    let id = try pushed()
    server.before { _ throws(VaultError) in throw VaultError(peer: word, "no") }
    let context = try context(pin: "8306")
    return thrown { () throws(VaultError) in try make(call, about: id, context) }
  }

  private func make(
    _ call: PeerStateTests.Call, about id: ItemID, _ context: AuthenticationContext
  ) throws(VaultError) {
    switch call {
    case .synchronize: _ = try core.synchronize(bank, over: server, context: context)
    case .onlineCode: _ = try core.onlineCode(of: bank, over: server, context: context)
    case .next: _ = try core.receiveTransaction(for: bank, over: server, context: context)
    case .nextNamed:
      _ = try core.receiveTransaction(
        for: bank, push: PushPayload(alias: "t-1"), over: server, context: context)
    case .answer: _ = try accept(id, context)
    case .login: _ = try core.logIn(pin, with: bank, over: server, by: .pin, context: context)
    case .disable: try core.disableCredential(bank, over: server, context: context)
    }
  }
}
