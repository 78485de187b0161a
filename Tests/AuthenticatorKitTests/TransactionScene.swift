import AuthenticatorKit
import OneTimePassword
import SecretMemory
import Synchronization
import VaultExpectations
import VaultKit
import VaultTestKit

/// A vault with the passcode `passcode`, the phrase `right`, the PIN 8306 with a biokey, the activated credential `bank`
/// behind the PIN, and its device credential. Both have the key of RFC 4226, `bank` with another counter or a suite.
struct TransactionScene {
  static let text = "Pay 12 EUR to Anna\nfor the tickets"
  static let key = Array("12345678901234567890".utf8)
  static let suite = "OCRA-1:HOTP-SHA256-8:C-QH64"

  let clock = FixedClock()
  let place: TemporaryVault
  let core: VaultCore
  let pin: ItemID
  let bank: ItemID
  let device: ItemID
  let server = TransactionServer()

  /// - Parameters:
  ///   - suite: `nil` for a HOTP credential.
  ///   - mode: The PIN mode of the peer.
  init(suite: String? = nil, mode: PINFactors = [.current, .biometric]) throws {
    place = TemporaryVault(environment: .testing(clock: clock))
    core = try place.makeCore(passcode: "passcode")
    _ = try core.enroll(
      BiometricPhrase(testing: "right"), named: "voice", passcode: Passcode(testing: "passcode"))
    pin = try core.makePIN(NewPINItem(.checked), context: BiokeyScene.given(new: "8306")).id
    let context = try BiokeyScene.given(pin: "8306")
    if let suite {
      let new = NewOCRACredential(try OCRASuite(suite), name: "bank")
      bank = try core.addOCRA(new, key: SecretBytes(copying: Self.key), pin: pin, context: context).item.id
    } else {
      bank = try core.addOTP(Self.uri(counter: 5), named: "bank", pin: pin, context: context).item.id
    }
    device = try core.addOTP(
      Self.uri(counter: 0), named: "bank-device", access: AccessControl(thisDeviceOnly: true)
    ).item.id
    try core.activate(bank, mode: mode)
    try core.activate(device, mode: [], peer: nil)
    try core.setDevice(device, of: bank)
    _ = try core.registerBiokey(NewBiokey(), for: pin, context: BiokeyScene.given(pin: "8306"))
  }

  private static func uri(counter: UInt64) throws -> OTPAuthURI {
    try OTPAuthURI(kind: .hotp(counter: counter), account: "a", secret: SecretBytes(copying: key))
  }

  // MARK: What a test does

  /// Records what became of a transaction, of which the server does not learn.
  func end(_ id: ItemID, as state: TransactionState) throws {
    let standing = try TransactionStanding(state, until: deadline(of: id)!)
    _ = try core.writing { transaction throws(VaultError) in try transaction.setStanding(standing, of: id) }
  }

  func deadline(of id: ItemID) throws -> Deadline? {
    try core.items(matching: Query(id: id)).first?.attributes.standing?.deadline
  }

  /// A context that was given secrets, and whose prompt answers from a script.
  func context(
    pin: String? = nil, phrase: String? = nil, prompt: (any Prompt)? = nil
  ) throws -> AuthenticationContext {
    let context = AuthenticationContext(reason: "", prompt: prompt)
    if let pin { context.provide(try PIN(SecretBytes(testing: pin))) }
    if let phrase { context.provide(try BiometricPhrase(testing: phrase)) }
    return context
  }

  func asking(_ answers: ScriptedPrompt.Answer...) -> (AuthenticationContext, ScriptedPrompt) {
    let prompt = ScriptedPrompt(answers)
    return (AuthenticationContext(reason: "", prompt: prompt), prompt)
  }

  @discardableResult
  func receive(_ push: PushPayload? = nil) throws -> TransactionDetails? {
    try core.receiveTransaction(for: bank, push: push, over: server, context: context())
  }

  /// A transaction that waits here.
  func pushed(types: [String]? = nil, context: String? = text) throws -> ItemID {
    server.push(types: types, context: context)
    return try receive()!.id
  }

  func accept(
    _ id: ItemID, by factor: TransactionFactor? = nil, _ context: AuthenticationContext
  ) throws(VaultError) -> TransactionDecision {
    try core.acceptTransaction(id, by: factor, over: server, context: context)
  }

  func status(_ id: ItemID) throws -> TransactionState {
    try core.transactionDetails(of: id).transaction.status
  }

  /// The counters of the two credentials, and how many wrong PINs and failures of the biokey are left.
  func uses() throws -> [Int] {
    [
      Int(try core.state(of: bank).counter), Int(try core.state(of: device).counter),
      try core.pinStatuses(of: pin).first?.attemptsLeft ?? 0, try core.biokeys().first?.attemptsLeft ?? 0,
    ]
  }

  func logged(_ operation: AuditOperation) throws -> Int {
    try core.auditEntries().count { $0.operation == operation }
  }
}

/// A server with transactions that wait, which gives them in their order and remembers the decisions.
final class TransactionServer: Transport {
  private struct State {
    var waiting: [TransportFields] = []
    /// The names of all, in their order.
    var order: [String?] = []
    var answers: [TransportFields] = []
    var requests: [TransportRequest] = []
    var number = 0
    var hook: (@Sendable (TransportRequest) throws(VaultError) -> Void)?
    var afterwards: (@Sendable (TransportRequest) throws(VaultError) -> Void)?
    /// Whether it goes on after a transaction.
    var goesOn = true

    mutating func answer(to request: TransportRequest) -> TransportAnswer {
      let fields = request.fields
      if request.operation == .transactionAnswer {
        answers.append(fields)
        waiting.removeAll { $0.word("alias") == fields.word("alias") }
      }
      guard request.operation == .transactionNext,
        let next = next(fields.word("alias"), after: fields.word("after"))
      else { return TransportAnswer() }
      return TransportAnswer(TransportFields(["transaction": .fields(next)]))
    }

    /// The first that waits of this name, or after the one of another name.
    func next(_ alias: String?, after: String?) -> TransportFields? {
      let begin = goesOn ? order.lastIndex { after != nil && $0 == after }.map { $0 + 1 } ?? 0 : 0
      let names = order[begin...]
      return waiting.first {
        let name = $0.word("alias")
        return alias == nil ? names.contains(name) : alias == name
      }
    }
  }
  private let state = Mutex(State())
  let identity = "/opt/peer"

  var answers: [TransportFields] { state.withLock { $0.answers } }
  var requests: [TransportRequest] { state.withLock { $0.requests } }

  /// Runs before each answer.
  func before(_ hook: (@Sendable (TransportRequest) throws(VaultError) -> Void)?) {
    state.withLock { $0.hook = hook }
  }

  /// Runs after each request, when the server has done what it was asked for: an error loses the answer.
  func afterwards(_ hook: (@Sendable (TransportRequest) throws(VaultError) -> Void)?) {
    state.withLock { $0.afterwards = hook }
  }

  /// Whether it goes on after a transaction.
  func goOn(_ goesOn: Bool) { state.withLock { $0.goesOn = goesOn } }

  @discardableResult
  func push(types: [String]? = nil, context: String? = TransactionScene.text, life: UInt64? = nil) -> String {
    state.withLock { state in
      state.number += 1
      var fields = TransportFields(["alias": .text("t-\(state.number)")])
      if let types { fields["types"] = .texts(types) }
      if let context { fields["context"] = .text(context) }
      if let life { fields["lifeSeconds"] = .number(life) }
      state.waiting.append(fields)
      state.order.append("t-\(state.number)")
      return "t-\(state.number)"
    }
  }

  /// A transaction with exactly these members.
  func push(_ fields: TransportFields) {
    state.withLock {
      $0.waiting.append(fields)
      $0.order.append(fields.word("alias"))
    }
  }

  /// Lets the transactions that wait lapse.
  func forget() { state.withLock { $0.waiting = [] } }

  func send(_ request: TransportRequest) throws(VaultError) -> TransportAnswer {
    let hook = state.withLock { state in
      state.requests.append(request)
      return state.hook
    }
    try hook?(request)
    let answer = state.withLock { $0.answer(to: request) }
    try state.withLock(\.afterwards)?(request)
    return answer
  }
}

extension VaultCore {
  /// Makes an item the device credential of another.
  func setDevice(_ device: ItemID, of credential: ItemID) throws(VaultError) {
    var changes = ItemChanges()
    changes.attributes[Attribute<[UInt8]>(code: 82)] = device.bytes
    try writing { transaction throws(VaultError) in
      _ = try transaction.update(credential, changes, secret: nil, by: Component(.otp))
    }
  }
}

extension TransportFields {
  func word(_ name: String) -> String? {
    guard case .text(let text)? = self[name] else { return nil }
    return text
  }

  func count(_ name: String) -> UInt64? {
    guard case .number(let number)? = self[name] else { return nil }
    return number
  }
}
