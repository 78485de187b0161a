import AuthenticatorKit
import OneTimePassword
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Decisions about transactions", .bounded)
struct TransactionDecisionTests {
  /// Verified to fail when the transaction is not looked at again in the commit of its code.
  @Test("accepting uses one counter, and a second decision is refused", .requirement("B6"))
  func accept() throws {
    let scene = try TransactionScene()
    let id = try scene.pushed()
    let decision = try scene.accept(id, scene.context(pin: "8306"))
    #expect(decision.transaction.status == .accepted && decision.factor == .pin)
    let answer = try #require(scene.server.answers.first)
    #expect(answer.word("alias") == "t-1" && answer.word("decision") == "accept")
    #expect(answer.word("type") == "pin" && answer.count("counter") == 5)
    #expect(answer.word("code") == BiokeyScene.codes[5] && answer.word("peer") == "c-17")
    try expect(scene.uses(), equals: [6, 0, 10, 5])
    expect(.wrongState) { () throws(VaultError) in
      _ = try scene.accept(id, try! scene.context(pin: "8306"))
    }
    for state in [TransactionState.rejected, .cancelled] {
      expect(.wrongState) { () throws(VaultError) in
        _ = try scene.core.declineTransaction(
          id, as: state, over: scene.server, context: try! scene.context())
      }
    }
    #expect(try scene.uses() == [6, 0, 10, 5] && scene.server.answers.count == 1)
    #expect(try scene.logged(.transactionAccepted) == 1 && scene.status(id) == .accepted)
    try expect(scene.core.verify().problems, equals: [])
  }

  @Test(
    "rejecting and cancelling leave counter and attempts, are final, and reach the server",
    .requirement("B6"), arguments: [TransactionState.rejected, .cancelled])
  func decline(state: TransactionState) throws {
    let scene = try TransactionScene()
    let id = try scene.pushed()
    let decision = try scene.core.declineTransaction(
      id, as: state, over: scene.server, context: scene.context())
    let (status, word, operation): (TransactionState, String, AuditOperation) =
      state == .rejected
      ? (.rejected, "reject", .transactionRejected) : (.cancelled, "cancel", .transactionCancelled)
    #expect(decision.transaction.status == status && decision.factor == nil)
    let answer = try #require(scene.server.answers.first)
    #expect(answer.word("decision") == word && answer["code"] == nil && answer["type"] == nil)
    #expect(try scene.uses() == [5, 0, 10, 5] && scene.logged(operation) == 1)
    expect(.wrongState) { () throws(VaultError) in
      _ = try scene.accept(id, try! scene.context(pin: "8306"))
    }
    #expect(try scene.status(id) == status && scene.server.answers.count == 1)
  }

  /// Verified to fail when a cancelled prompt is taken for `cancel`.
  @Test(
    "a prompt that is cancelled, or nobody to ask, leaves it pending and uses nothing", .requirement("B6"))
  func cancelledPrompt() async throws {
    let scene = try TransactionScene()
    let all = ["device", "biometry", "pin"]
    let id = try scene.pushed(types: all)
    for factor in TransactionFactor.allCases {
      for answer in [ScriptedPrompt.Answer.cancel, .text(""), .confirm(false)] {
        let (context, prompt) = scene.asking(answer)
        expect(.cancelled) { () throws(VaultError) in _ = try scene.accept(id, by: factor, context) }
        expect(prompt.requests.count, equals: 1)
      }
      expect(.interactionNotAllowed) { () throws(VaultError) in
        _ = try scene.accept(id, by: factor, try! scene.context())
      }
    }
    #expect(try scene.status(id) == .pending && scene.server.answers.isEmpty)
    try expect(scene.uses(), equals: [5, 0, 10, 5])
    try expect(scene.logged(.transactionCancelled), equals: 0)
    _ = try scene.accept(id, by: .pin, scene.context(pin: "8306"))
  }

  /// Verified to fail when the server is told before the commit.
  @Test("it is accepted on disk before the server learns the code", .requirement("B6"))
  func order() throws {
    let scene = try TransactionScene()
    let id = try scene.pushed()
    let seen = Mutex<[String]>([])
    let (place, bank) = (scene.place, scene.bank)
    scene.server.before { request throws(VaultError) in
      guard request.operation == .transactionAnswer else { return }
      let other = try place.openCore()
      let state = try other.transactions().first?.status.rawValue ?? "none"
      let counter = try other.state(of: bank).counter
      seen.withLock { $0.append("\(state) \(counter)") }
      throw VaultError(peer: "NETWORK", "no way to the bank")
    }
    let error = thrown { () throws(VaultError) in _ = try scene.accept(id, try! scene.context(pin: "8306")) }
    expect(seen.withLock { $0 }, equals: ["accepted 6"])
    // The decision stays, and the error says so.
    #expect(error?.code == .network && error?.message.contains("accepted here for good") == true)
    #expect(error?.message.contains("no way to the bank") == true)
    try expect(scene.status(id), equals: .accepted)
    scene.server.before(nil)
    // The next contact tells the server.
    #expect(try scene.receive() == nil && scene.server.answers.count == 1)
    expect(.wrongState) { () throws(VaultError) in _ = try scene.accept(id, try! scene.context(pin: "8306")) }
    try expect(scene.uses(), equals: [6, 0, 10, 5])
  }

  /// Verified to fail when SYNCHROFAILED counts as a refusal.
  @Test("a server that took the decision, and is out of step, is no failure to tell it", .requirement("B6"))
  func outOfStep() throws {
    let scene = try TransactionScene()
    scene.server.push()
    scene.server.push()
    let first = try #require(try scene.receive()).id
    scene.server.before { request throws(VaultError) in
      guard request.operation == .transactionAnswer else { return }
      throw VaultError(peer: "SYNCHROFAILED", "done")
    }
    let accepted = try scene.accept(first, scene.context(pin: "8306"))
    #expect(accepted.transaction.status == .accepted && accepted.notices == [.synchronizationFailed])
    scene.server.forget()
    let second = try scene.pushed()
    let rejected = try scene.core.declineTransaction(
      second, as: .rejected, over: scene.server, context: scene.context())
    #expect(rejected.transaction.status == .rejected && rejected.notices == [.synchronizationFailed])
  }

  /// Verified to fail when the counter is looked at after the PIN alone.
  @Test("a credential that makes no code now asks for nothing", .requirement("B6"))
  func marked() throws {
    let scene = try TransactionScene()
    let id = try scene.pushed(types: ["device", "biometry", "pin"])
    for credential in [scene.bank, scene.device] {
      try scene.core.writing { transaction throws(VaultError) in
        try transaction.changeState(of: credential) { $0.needsResync = true }
      }
    }
    for factor in TransactionFactor.allCases {
      let (context, prompt) = scene.asking(.text("8306"))
      let error = thrown { () throws(VaultError) in _ = try scene.accept(id, by: factor, context) }
      // Nothing can be asked for about a device credential alone.
      #expect(error?.code == .outOfStep && prompt.requests.isEmpty)
      #expect(error?.advice == (factor == .device ? .setCounter : .synchronize))
    }
    #expect(try scene.uses() == [5, 0, 10, 5] && scene.status(id) == .pending)
  }

  /// Verified to fail when the transaction is not looked at again in the commit of its code.
  @Test("of two that accept it at the same time one wins, and the other uses nothing", .requirement("B6"))
  func race() throws {
    let scene = try TransactionScene()
    let id = try scene.pushed()
    let other = try scene.place.openCore()
    try other.unlock(with: Passcode(testing: "passcode"))
    let prompt = MeanwhilePrompt("8306") { () throws(VaultError) in
      _ = try other.acceptTransaction(
        id, over: scene.server, context: try! scene.context(pin: "8306"))
    }
    expect(.wrongState) { () throws(VaultError) in
      _ = try scene.accept(id, AuthenticationContext(reason: "", prompt: prompt))
    }
    // A right PIN is no wrong attempt.
    #expect(try scene.uses() == [6, 0, 10, 5] && scene.server.answers.count == 1)
    try expect(scene.core.state(of: scene.pin).attemptsUnderWay, equals: 0)
  }

  /// Verified to fail when the credential is not looked at in the commit of its device credential's code.
  @Test("a credential that another terminal blocks meanwhile accepts nothing", .requirement("B6"))
  func blockedMeanwhile() throws {
    let scene = try TransactionScene()
    let id = try scene.pushed(types: ["device", "pin"])
    let (other, bank) = (try scene.place.openCore(), scene.bank)
    for factor in [TransactionFactor.device, .pin] {
      let prompt = MeanwhilePrompt("8306") { () throws(VaultError) in
        try other.writing { transaction throws(VaultError) in
          try transaction.changeState(of: bank) { $0.set(CredentialState.blocked) }
        }
      }
      expect(.blocked) { () throws(VaultError) in
        _ = try scene.accept(id, by: factor, AuthenticationContext(reason: "", prompt: prompt))
      }
      try scene.core.writing { transaction throws(VaultError) in
        try transaction.changeState(of: bank) { $0.set(CredentialState.active) }
      }
    }
    #expect(try scene.uses() == [5, 0, 10, 5] && scene.status(id) == .pending)
    #expect(scene.server.answers.isEmpty)
  }

  @Test("a time that ends while the person reads uses nothing", .requirement("B6"))
  func lateAnswer() throws {
    let scene = try TransactionScene()
    let id = try scene.pushed()
    let prompt = MeanwhilePrompt("8306") { () throws(VaultError) in scene.clock.advance(by: .seconds(71)) }
    expect(.expired) { () throws(VaultError) in
      _ = try scene.accept(id, AuthenticationContext(reason: "", prompt: prompt))
    }
    #expect(try scene.uses() == [5, 0, 10, 5] && scene.status(id) == .timedOut)
    #expect(try scene.logged(.transactionTimedOut) == 1 && scene.server.answers.isEmpty)
  }

  /// Verified to fail when the text is cut before it is signed.
  @Test("the prompt shows the whole text, and the code signs that very text", .requirement("B7", "B6"))
  func text() throws {
    let scene = try TransactionScene(suite: TransactionScene.suite)
    let text = String(repeating: "Pay 12 EUR to Anna ", count: 200) + "\nand 13 to Bob"
    let id = try scene.pushed(types: ["pin"], context: text)
    let (context, prompt) = scene.asking(.text("8306"))
    _ = try scene.accept(id, context)
    let request = try #require(prompt.requests.first)
    #expect(request.subject == .pin && request.text?.text == text)
    expect(request.operation, equals: "accept the transaction")
    let suite = try OCRASuite(TransactionScene.suite)
    func code(of text: String) throws -> String {
      let question = try OCRAQuestion(data: Array(text.utf8).span, for: suite)
      return try OCRAGenerator(key: SecretBytes(copying: TransactionScene.key), suite: suite).code(
        for: OCRADataInput(question: question, counter: 0))
    }
    let answer = try #require(scene.server.answers.first)
    #expect(try answer.word("code") == code(of: text) && answer.count("counter") == 0)
    #expect(try answer.word("code") != code(of: String(text.dropLast())))
  }

  @Test("a suite that does not take the text signs nothing, and asks nobody", .requirement("B7"))
  func unsignable() throws {
    let scene = try TransactionScene(suite: "OCRA-1:HOTP-SHA1-6:C-QN08")
    let id = try scene.pushed()
    let (context, prompt) = scene.asking(.text("8306"))
    expect(.policy) { () throws(VaultError) in _ = try scene.accept(id, context) }
    #expect(try prompt.requests.isEmpty && scene.uses() == [0, 0, 10, 5])
    try expect(scene.status(id), equals: .pending)
  }

  @Test("the device credential accepts after a yes, without a secret", .requirement("B11"))
  func device() throws {
    let scene = try TransactionScene()
    let id = try scene.pushed(types: ["device"])
    let (context, prompt) = scene.asking(.confirm(true))
    let decision = try scene.accept(id, context)
    expect(prompt.requests.map(\.subject), equals: [.transaction])
    #expect(prompt.requests.first?.text?.text == TransactionScene.text && decision.factor == .device)
    let answer = try #require(scene.server.answers.first)
    #expect(answer.word("type") == "device" && answer.word("code") == BiokeyScene.codes[0])
    try expect(scene.uses(), equals: [5, 1, 10, 5])
  }

  /// Verified to fail when a credential without a PIN signs in place of its device credential, also of one that is gone.
  @Test("the device credential of a credential without a PIN signs, not that itself", .requirement("B11"))
  func deviceWithoutPIN() throws {
    let scene = try TransactionScene(mode: [])
    let uri = try OTPAuthURI(
      kind: .hotp(counter: 0), account: "a", secret: SecretBytes(copying: TransactionScene.key))
    let shop = try scene.core.addOTP(uri, named: "shop").item.id
    try scene.core.activate(shop, mode: [], peer: "c-18")
    for (device, code) in [(nil, 0), (scene.device, 0), (scene.device, 1)] as [(ItemID?, Int)] {
      if let device { try scene.core.setDevice(device, of: shop) }
      scene.server.push(types: ["device"])
      let asked = try #require(
        try scene.core.receiveTransaction(for: shop, over: scene.server, context: scene.context()))
      _ = try scene.accept(asked.id, scene.asking(.confirm(true)).0)
      expect(scene.server.answers.last?.word("code"), equals: BiokeyScene.codes[code])
    }
    #expect(try scene.uses() == [5, 2, 10, 5] && scene.core.state(of: shop).counter == 1)
    // As after a restore on another device.
    try scene.core.delete(scene.device)
    scene.server.push(types: ["device"])
    let gone = try scene.core.receiveTransaction(for: shop, over: scene.server, context: scene.context())
    #expect(gone?.offered == [.device] && gone?.choices == [])
  }

  /// 7 sets × 3 choices, and without a choice. Verified to fail when a factor that is not offered is used.
  @Test("one that is offered is used, of several the person chooses, others are refused", .requirement("B11"))
  func choices() throws {
    let scene = try TransactionScene()
    for number in UInt8(1)...7 {
      let offered = TransactionFactor.allCases.enumerated()
        .filter { number >> $0.offset & 1 == 1 }.map(\.element)
      for choice in TransactionFactor.allCases.map(Optional.some) + [nil] {
        let id = try scene.pushed(types: offered.map(\.rawValue))
        let details = try scene.core.transactionDetails(of: id)
        #expect(details.offered == offered && details.choices == offered)
        let context = try scene.context(
          pin: "8306", phrase: "right", prompt: ScriptedPrompt([.confirm(true)]))
        let before = try scene.uses()
        let isTaken = choice.map { offered.contains($0) } ?? (offered.count == 1)
        if isTaken {
          let decision = try scene.accept(id, by: choice, context)
          #expect(decision.factor == choice ?? offered[0], "\(offered) \(String(describing: choice))")
          expect(scene.server.answers.last?.word("type"), equals: decision.factor?.rawValue)
        } else {
          expect(.policy) { () throws(VaultError) in _ = try scene.accept(id, by: choice, context) }
          #expect(try scene.uses() == before && scene.status(id) == .pending)
          scene.server.forget()
        }
      }
    }
  }

  /// Verified to fail when the PIN is looked at only where it is asked for.
  @Test("while the PIN is blocked nothing accepts, and it can be rejected", .requirement("B6"))
  func blockedPIN() throws {
    let scene = try TransactionScene()
    let id = try scene.pushed(types: ["device", "biometry", "pin"])
    let pin = scene.pin
    try scene.core.writing { transaction throws(VaultError) in
      try transaction.changeState(of: pin) { $0.isBlocked = true }
    }
    for factor in TransactionFactor.allCases {
      let (context, prompt) = scene.asking(.confirm(true))
      let error = thrown { () throws(VaultError) in _ = try scene.accept(id, by: factor, context) }
      #expect(error?.code == .blocked && error?.advice == .unlockCredential)
      #expect(prompt.requests.isEmpty)
    }
    expect(.blocked) { () throws(VaultError) in
      _ = try scene.core.receiveTransaction(
        for: scene.bank, over: scene.server, context: try! scene.context())
    }
    #expect(try scene.core.credentials(over: scene.server).isEmpty && scene.server.requests.count == 1)
    _ = try scene.core.declineTransaction(
      id, as: .rejected, over: scene.server, context: scene.context())
    try expect(scene.status(id), equals: .rejected)
  }

  /// Verified to fail when a transaction without a text takes the context as it is.
  @Test("each is asked about, whatever was shown before", .requirement("B6"), arguments: [true, false])
  func reuse(hasText: Bool) throws {
    let scene = try TransactionScene()
    let prompt = ScriptedPrompt([.text("right"), .text("right"), .text("right")])
    let context = AuthenticationContext(reason: "", prompt: prompt, reuse: .seconds(300))
    _ = try scene.core.nextHOTPCode(of: scene.bank, by: .biometric, context: context)
    _ = try scene.core.nextHOTPCode(of: scene.bank, by: .biometric, context: context)
    expect(prompt.requests.count, equals: 1, "what was shown serves again")
    for count in 2...3 {
      let id = try scene.pushed(types: ["biometry"], context: hasText ? TransactionScene.text : nil)
      _ = try scene.accept(id, context)
      expect(prompt.requests.count, equals: count)
    }
  }

  @Test("a transaction that was left without its credential says so", .requirement("B6"))
  func orphan() throws {
    let scene = try TransactionScene()
    let id = try scene.pushed()
    // Or the end of its credential would be its own.
    try scene.core.writing { transaction throws(VaultError) in
      var changes = ItemChanges()
      changes.attributes[.account] = String(repeating: "0", count: 32)
      _ = try transaction.update(id, changes, secret: nil, by: .transaction)
    }
    try scene.core.delete(scene.bank)
    let errors = [
      thrown { () throws(VaultError) in
        _ = try scene.accept(id, by: .pin, try! scene.context(pin: "8306"))
      },
      thrown { () throws(VaultError) in
        _ = try scene.core.declineTransaction(
          id, as: .rejected, over: scene.server, context: try! scene.context())
      },
    ]
    expect(errors.map(\.?.code), equals: [.itemNotFound, .itemNotFound])
    #expect(errors.allSatisfy { $0?.message.contains("gone") == true })
    try expect(scene.status(id), equals: .pending)
  }

  @Test("what the device does not have is no choice", .requirement("B11"))
  func absent() throws {
    let scene = try TransactionScene(mode: .current)
    try expect(
      scene.core.transactionDetails(of: scene.pushed(types: ["biometry", "pin"])).choices, equals: [.pin])
    scene.server.forget()
    let alone = try scene.pushed(types: ["biometry"])
    #expect(try scene.core.transactionDetails(of: alone).choices.isEmpty)
    for factor in [TransactionFactor.biometry, nil] {
      expect(.policy) { () throws(VaultError) in
        _ = try scene.accept(alone, by: factor, try! scene.context(pin: "8306", phrase: "right"))
      }
    }
    try scene.core.delete(scene.device)
    scene.server.forget()
    let gone = try scene.pushed(types: ["device", "pin"])
    try expect(scene.core.transactionDetails(of: gone).choices, equals: [.pin])
    try expect(scene.accept(gone, scene.context(pin: "8306")).factor, equals: .pin)
  }

  @Test("an activation is not accepted, and can be rejected", .requirement("A19"))
  func activation() throws {
    let scene = try TransactionScene()
    scene.server.push(TransportFields(["alias": .text("a"), "action": .text("activate")]))
    let asked = try #require(try scene.receive())
    #expect(asked.action == .activate && asked.choices.isEmpty)
    let error = thrown { () throws(VaultError) in
      _ = try scene.accept(asked.id, try! scene.context(pin: "8306"))
    }
    #expect(error?.code == .policy && error?.advice == .activateCredential)
    _ = try scene.core.declineTransaction(
      asked.id, as: .rejected, over: scene.server, context: scene.context())
    try expect(scene.status(asked.id), equals: .rejected)
  }

  @Test("another transport asks for the passcode, also to reject", .requirement("B6"))
  func otherTransport() throws {
    let scene = try TransactionScene()
    let id = try scene.pushed()
    let other = ScriptedTransport("/opt/other") { _ throws(VaultError) in TransportFields() }
    expect(.interactionNotAllowed) { () throws(VaultError) in
      _ = try scene.core.declineTransaction(id, as: .rejected, over: other, context: try! scene.context())
    }
    expect(.interactionNotAllowed) { () throws(VaultError) in
      _ = try scene.core.acceptTransaction(id, over: other, context: try! scene.context(pin: "8306"))
    }
    #expect(try scene.status(id) == .pending && other.requests.isEmpty && scene.uses() == [5, 0, 10, 5])
  }

  @Test("the actor receives, lists, shows and decides", .requirement("B8"))
  func actor() async throws {
    let place = TemporaryVault()
    let vault = try place.make()
    let uri = SecretBytes(testing: "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0")
    let credential = try await OTPCredential.enroll(uri, named: "bank", in: vault)
    try place.openCore().activate(credential.id, mode: [])
    let server = TransactionServer()
    let signer = TransactionSigner(vault)
    #expect(try await signer.pending(for: credential.id, over: server) == nil)
    server.push(types: ["device"])
    let asked = try #require(try await signer.pending(for: credential.id, over: server))
    // Without a PIN the credential is the device's own.
    expect(asked.choices, equals: [.device])
    let prompt = ScriptedPrompt([.confirm(true)])
    let context = AuthenticationContext(reason: "test", prompt: prompt)
    try await expect(
      signer.accept(asked.id, over: server, context: context).transaction.status, equals: .accepted)
    server.push()
    let next = try #require(try await signer.pending(for: credential.id, over: server))
    try await signer.cancel(next.id, over: server)
    try await expect(signer.list().map(\.status), equals: [.accepted, .cancelled])
    try await expect(signer.details(of: next.id).context?.text, equals: TransactionScene.text)
    await #expect(throws: VaultError.self) { try await signer.reject(next.id, over: server) }
    await #expect(throws: VaultError.self) { try await signer.details(of: credential.id) }
  }
}

/// A prompt whose person answers after something has happened meanwhile.
private final class MeanwhilePrompt: Prompt {
  private let answer: String
  private let meanwhile: @Sendable () throws(VaultError) -> Void

  init(_ answer: String, meanwhile: @escaping @Sendable () throws(VaultError) -> Void) {
    (self.answer, self.meanwhile) = (answer, meanwhile)
  }

  func readSecret(_ request: PromptRequest) throws(VaultError) -> SecretBytes {
    try meanwhile()
    return SecretBytes(testing: answer)
  }

  func confirm(_ request: PromptRequest) throws(VaultError) -> Bool {
    try meanwhile()
    return true
  }
}
