import AuthenticatorKit
import SecretMemory
import VaultKit

/// Transactions of a server in the same process, which accepts every code and answers at once.
extension BenchmarkVault {
  /// Accepting a transaction by a checked PIN: the PIN is derived, the text is signed, and the acceptance is on disk before the
  /// server is told. One run in 64 also receives the next 64 transactions.
  func accept() -> Workload {
    let next = waiting()
    return Workload("accept a transaction behind a checked PIN") { [core] in
      _ = try core.acceptTransaction(next(), by: .pin, over: Bank(), context: Self.context(Self.pin))
    }
  }

  /// What such a server takes for an answer.
  static func transport() -> Workload {
    let request = TransportRequest(.transactionAnswer, id: "", fields: TransportFields())
    return Workload("the transport") { _ = try Bank().send(request) }
  }

  /// Lists the transactions without asking the server.
  func transactions() -> Workload {
    Workload("list of transactions") { [core] in _ = try core.transactions() }
  }

  /// Stores transactions that wait.
  func receiveTransactions(_ count: Int) {
    must {
      let credential = try activated()
      for _ in 0..<count { _ = try receive(for: credential) }
    }
  }

  /// What accepting a transaction does, without receiving it.
  func accepting(isRight: Bool) -> Work {
    let id = must { try waiting()() }
    return counting {
      do throws(VaultError) {
        let context = try Self.context(isRight ? Self.pin : "2749")
        _ = try core.acceptTransaction(id, by: .pin, over: Bank(), context: context)
      } catch { guard error.code == .authenticationFailed else { throw error } }
    }
  }

  /// Gives transactions that wait.
  private func waiting() -> () throws -> ItemID {
    var stock: [ItemID] = []
    let refill = { [self] in
      let credential = try activated()
      while stock.count < 64 { stock.append(try receive(for: credential)) }
    }
    must(refill)
    return {
      if stock.isEmpty { try refill() }
      return stock.removeLast()
    }
  }

  private func receive(for credential: ItemID) throws -> ItemID {
    guard let found = try core.receiveTransaction(for: credential, over: Bank(), context: Self.context())
    else { fatalError("benchmark: the server has no transaction") }
    return found.id
  }

  /// The credential of the server, behind the checked PIN. Activates it if it is not there.
  private func activated() throws -> ItemID {
    let name = "bank"
    if let there = try core.items(matching: Query(.otp)).first(where: { $0.name == name }) { return there.id }
    makePIN(.checked, accounts: 1)
    let code = SharedSecret(SecretBytes(copying: Array("471199".utf8)))
    _ = try core.startActivation(NewActivation(name), code: code, over: Bank())
    return try core.finishActivation(
      named: name, code: code, pin: .stored(pinItem(.checked)), over: Bank(), context: Self.context(Self.pin)
    ).credential
  }
}

private struct Bank: Transport {
  let identity = "app:benchmark"

  func send(_ request: TransportRequest) throws(VaultError) -> TransportAnswer {
    var fields = TransportFields()
    switch request.operation {
    case .activationStart:
      fields["peer"] = .text("c-17")
      fields["pinMode"] = .number(1)
      fields["secretBase64"] = try Self.secret(byteCount: 16)
    case .activationFinish:
      var credential = TransportFields()
      credential["type"] = .text("ocra")
      credential["suite"] = .text("OCRA-1:HOTP-SHA256-8:C-QH64")
      credential["secretBase64"] = try Self.secret(byteCount: 32)
      fields["credential"] = .fields(credential)
    case .transactionNext:
      var transaction = TransportFields()
      transaction["alias"] = .text("t-\(request.id.prefix(8))")
      transaction["context"] = .text("Pay 12 EUR to Anna\nfor the tickets")
      transaction["types"] = .texts(["pin"])
      // They wait for 30 days, so that none ends in a long measurement.
      transaction["lifeSeconds"] = .number(2_592_000)
      transaction["service"] = .text("payments")
      transaction["serviceName"] = .text("Bank")
      transaction["deviceAlias"] = .text("laptop")
      fields["transaction"] = .fields(transaction)
    default: break
    }
    return TransportAnswer(fields)
  }

  private static func secret(byteCount: Int) throws(VaultError) -> TransportValue {
    .secret(TransportSecret(try SecretBytes.random(byteCount: byteCount)))
  }
}
