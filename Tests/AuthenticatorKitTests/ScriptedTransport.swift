import AuthenticatorKit
import OneTimePassword
import SecretMemory
import Synchronization
import VaultKit

/// A peer that answers as a test says, and remembers what it was asked.
final class ScriptedTransport: Transport {
  typealias Answer = @Sendable (TransportRequest) throws(VaultError) -> TransportFields

  let identity: String
  private let answer: Answer
  private let log = Mutex<[TransportRequest]>([])

  init(_ identity: String = "/opt/peer", _ answer: @escaping Answer) {
    (self.identity, self.answer) = (identity, answer)
  }

  /// What it was asked, in this order.
  var requests: [TransportRequest] { log.withLock { $0 } }
  var operations: [TransportOperation] { requests.map(\.operation) }

  func send(_ request: TransportRequest) throws(VaultError) -> TransportAnswer {
    log.withLock { $0.append(request) }
    return TransportAnswer(try answer(request))
  }
}

extension TransportFields {
  init(_ values: KeyValuePairs<String, TransportValue>) {
    self.init()
    for (name, value) in values { self[name] = value }
  }
}

extension VaultCore {
  /// Makes an existing credential one that a peer has activated, without an activation.
  ///
  /// - Parameter peer: `nil` for a device credential.
  func activate(
    _ id: ItemID, mode: PINFactors = .current, transport: String = "/opt/peer", peer: String? = "c-17"
  ) throws(VaultError) {
    var changes = ItemChanges()
    changes.attributes[Attribute<String>(code: 75)] = transport
    changes.attributes[Attribute<String>(code: 76)] = peer
    changes.attributes[Attribute<[UInt8]>(code: 77)] = [UInt8](repeating: 7, count: 16)
    changes.attributes[Attribute<Int64>(code: 80)] = Int64(mode.rawValue)
    try writing { transaction throws(VaultError) in
      _ = try transaction.update(id, changes, secret: nil, by: Component(.otp))
      try transaction.changeState(of: id) { $0.set(.active) }
    }
  }
}
