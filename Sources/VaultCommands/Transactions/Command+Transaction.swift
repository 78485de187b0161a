import AuthenticatorKit
import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// The arguments and options of verbs about the transactions of a server.
enum TransactionOptions {
  static let id = Argument("ID", .name, "The alias of the transaction, or its id: 32 hexadecimal digits.")
  static let optionalID = Argument(
    "ID", .name, "The alias of the transaction, or its id: 32 hexadecimal digits. Not with --push.",
    isRequired: false)
  static let credential = Setting(
    "credential", .text, "NAME", "Only ask the server of this credential, also through another transport.")
  static let push = Flag(
    "push", "Read a push message from standard input, and ask the server for its transaction.")
  static let type = Setting(
    "type",
    .choice(["device": TransactionFactor.device, "biometry": .biometry, "pin": .pin]), "",
    "What accepts it. Needed where the transaction offers several and no person can be asked.")
}

extension Command {
  /// The transaction that ID means. Of several with one alias, the one that waits.
  func transaction() throws -> PeerTransaction {
    let word = required(TransactionOptions.id)
    let vault = try vault.opened()
    if let id = ItemID(hexadecimal: word) {
      var query = Query(.transaction)
      query.id = id
      if let found = try vault.transactions(matching: query).first { return found }
    }
    let named = try vault.transactions(matching: .transactions(alias: word))
    let waiting = named.filter { $0.status == .pending }
    let found = waiting.isEmpty ? named : waiting
    guard let first = found.first else {
      throw CommandError(
        .notFound, "there is no transaction of that name", hint: "'vaultctl transaction list' shows them")
    }
    guard found.count == 1 else {
      throw CommandError.usage(
        "several transactions have that name", hint: "give the id: 'vaultctl transaction list --json' has it")
    }
    return first
  }

  /// The name of a credential; `nil` if it is gone.
  func name(of credential: ItemID) throws -> String? {
    try vault.opened().items(matching: Query(id: credential)).first?.name
  }

  /// The name of the credential of each transaction; `nil` if it is gone. Each is read once.
  ///
  /// - Parameter damaged: Called with each credential that does not open; its name is `nil` then.
  func names(
    ofCredentials transactions: [PeerTransaction], damaged: @escaping (ItemID, VaultError) -> Void
  ) throws -> [String?] {
    var (names, known): ([String?], [(id: ItemID, name: String?)]) = ([], [])
    names.reserveCapacity(transactions.count)
    // Most have the credential of the one before.
    var (last, name): (ItemID?, String?)
    for transaction in transactions {
      let id = transaction.credential
      if id != last {
        if let there = known.first(where: { $0.id == id }) {
          name = there.name
        } else {
          var reading = try vault.opened().beginReading()
          name = try reading.items(matching: Query(id: id), damaged: damaged).first?.name
          reading.end()
          known.append((id, name))
        }
        last = id
      }
      names.append(name)
    }
    return names
  }

  /// A transaction with its text. Unlocks the vault if needed.
  func details(of id: ItemID) throws -> TransactionDetails {
    try vault.unlocking { try $0.transactionDetails(of: id) }
  }

  /// The credentials whose servers are asked.
  ///
  /// - Parameter damaged: Called with each credential that does not open. Without it, such a one is an error.
  func credentialsToAsk(
    over transport: any Transport, damaged: ((ItemID, VaultError) -> Void)? = nil
  ) throws -> [Item] {
    guard let name = self[TransactionOptions.credential] else {
      return try vault.opened().credentials(over: transport, damaged: damaged)
    }
    return [try vault.opened().item(named: name)]
  }

  /// Asks the servers of these credentials for all that waits, and tells them what they do not have. One that fails does not keep
  /// the others from being asked.
  ///
  /// - Returns: What waits, and the first failure.
  func receive(
    for credentials: [Item], over transport: any Transport
  ) throws -> (found: [TransactionDetails], failure: VaultError?) {
    var found: [TransactionDetails] = []
    let failure = try askEach(of: credentials) { core, credential, context in
      let received = try core.receiveTransactions(for: credential.id, over: transport, context: context)
      found += received.found
      note(received, of: credential)
      if let failure = received.failure { throw failure }
      return true
    }
    return (found, failure)
  }

  /// Asks the servers of these credentials for the transaction that a push message names, until one has it.
  ///
  /// - Returns: The transaction, or the first failure.
  func receive(
    _ push: PushPayload, for credentials: [Item], over transport: any Transport
  ) throws -> (found: TransactionDetails?, failure: VaultError?) {
    var found: TransactionDetails?
    let failure = try askEach(of: credentials) { core, credential, context in
      found = try core.receiveTransaction(for: credential.id, push: push, over: transport, context: context)
      return found == nil
    }
    return (found, failure)
  }

  /// - Parameter ask: Returns whether the next one is asked.
  /// - Returns: The first failure.
  private func askEach(
    of credentials: [Item], _ ask: (VaultCore, Item, AuthenticationContext) throws -> Bool
  ) throws -> VaultError? {
    var failure: VaultError?
    // A wrong passcode is no failure of a server.
    if !credentials.isEmpty { _ = try vault.unlock(vault.opened()) }
    for credential in credentials {
      let context = try vault.pinContext()
      do {
        guard try vault.unlocking({ try ask($0, credential, context) }) else { break }
      } catch let error as VaultError where Self.concernOneServer.contains(error.code) {
        failure = failure ?? error
      }
    }
    return failure
  }

  /// Says what the list does not.
  private func note(_ received: ReceivedTransactions, of credential: Item) {
    note(received.notices, item: credential)
    let name = printable(credential.name ?? credential.id.hexadecimal)
    if received.notKept > 0 {
      messages.note(
        "\(name): \(received.notKept) more with texts that must not be shown are not kept: reject those that wait first"
      )
    }
    guard received.mayHaveMore, received.found.last?.transaction.status != .pending else { return }
    messages.note("\(name): the server does not go on after what is decided here, and may have more")
  }

  /// What a server answers about its credential alone, what is wrong with its answer, and damage of what it is about.
  private static let concernOneServer: Set<VaultError.Code> = [
    .authenticationFailed, .biokeyLocked, .blocked, .damaged, .deviceUnknown, .expired, .itemNotFound,
    .malformed, .network,
    .outOfStep, .peerFailed, .pinRefused, .pinReused, .policy, .unsupported, .wrongState,
  ]

  /// Tells what the server was told.
  func outcome(of decision: TransactionDecision) throws -> Outcome {
    let credential = try vault.opened().items(matching: Query(id: decision.transaction.credential)).first
    if let credential { note(decision.notices, item: credential) }
    return Outcome(
      json: decision.transaction.json(of: credential?.name).adding {
        if let factor = decision.factor { Field("type", factor.rawValue) }
      }, lines: ["\(decision.transaction.alias) is \(decision.transaction.status.rawValue)"],
      failure: OnlineOptions.failure(decision.notices, done: "took the decision"))
  }
}

extension PushPayload {
  /// A push message: one JSON object. Members that are not known are skipped.
  ///
  /// - Throws: exit 12.
  init(json text: borrowing SecretBytes) throws(CommandError) {
    var texts: [String: String] = [:]
    var life: Int64?
    let reader = JSONReader(ByteReader(text.copy(), count: text.byteCount))
    do throws(TextError) {
      try reader.object { name throws(TextError) in
        switch name {
        case "alias", "action", "serviceid", "serviceName", "deviceAlias":
          guard texts[name] == nil else { throw .malformed("it is there twice") }
          texts[name] = try reader.string(limit: 1024)
        case "time_to_live":
          guard life == nil else { throw .malformed("it is there twice") }
          life = try reader.integer()
        default: try reader.skip()
        }
      }
      try reader.endOfLine()
      guard try !reader.findLine() else { throw .malformed("there is more than one line") }
    } catch {
      throw Self.malformed("is no JSON object of texts, each there once, with time_to_live in seconds")
    }
    guard let alias = texts["alias"] else { throw Self.malformed("names no alias") }
    do throws(VaultError) { try self.init(alias: alias) } catch { throw CommandError(error) }
    if let word = texts["action"] {
      guard let action = TransactionAction(rawValue: word) else {
        throw Self.malformed("has an unknown action")
      }
      self.action = action
    }
    (service, serviceName, deviceAlias) = (texts["serviceid"], texts["serviceName"], texts["deviceAlias"])
    secondsToLive = life.map { Int($0) }
  }

  private static func malformed(_ flaw: String) -> CommandError {
    .malformed("the push message \(flaw)", hint: #"it looks like {"alias":"…","action":"authenticate"}"#)
  }
}
