import VaultKit

/// This device and one credential on it, as the peer knows them: chosen at random for an activation.
typealias DeviceID = Identifier<DeviceSubject>
/// What a ``DeviceID`` identifies.
enum DeviceSubject {}

/// A credential that a peer has activated, or an activation that is under way: how the peer knows it.
struct PeerCredential {
  let item: Item
  /// The name of the credential at the peer.
  let peer: String
  /// This device and credential, as the peer knows it.
  let device: DeviceID
  /// What the peer said about the factors of a code.
  let mode: PINFactors
  /// The transport through which it was activated.
  let transport: String

  /// - Throws: ``VaultError/Code/policy`` for a credential without a peer.
  init(_ item: Item) throws(VaultError) {
    guard item.kind == .otp else { throw .noCredential }
    let attributes = item.attributes
    guard let device = attributes[.device].flatMap(DeviceID.init), let transport = attributes[.transport]
    else {
      throw VaultError(
        .policy, "no server has activated the credential, so there is none to ask", hint: .activateCredential)
    }
    guard let peer = attributes[.peer] else {
      throw VaultError(
        .policy,
        "the credential is the device credential of another one, and its server is asked about that one",
        hint: "name the credential to which it belongs")
    }
    self.item = item
    (self.peer, self.device, self.transport) = (peer, device, transport)
    mode = PINFactors(rawValue: attributes[.peerPINMode].flatMap { Int(exactly: $0) } ?? 0)
  }

  /// The members of every request about it.
  var fields: TransportFields {
    var fields = TransportFields()
    fields["device"] = .text(device.hexadecimal)
    fields["peer"] = .text(peer)
    return fields
  }
}

extension Attribute where Value == String {
  /// The transport through which a peer activated a credential.
  static var transport: Self { Self(code: 75) }
  /// The name of a credential at its peer.
  static var peer: Self { Self(code: 76) }
  /// The name of the unlock that the peer began.
  static var unlock: Self { Self(code: 81) }
}

extension Attribute where Value == [UInt8] {
  /// This device and credential, as the peer knows it: 16 bytes.
  static var device: Self { Self(code: 77) }
  /// Of a credential, its device credential; of a transaction, the credential that it asks for.
  static var credential: Self { Self(code: 82) }
  /// Of an activation under way, the identifier that its credential will have.
  static var activated: Self { Self(code: 95) }
}

extension Attribute where Value == Bool {
  /// Whether the peer keeps an unlock key of the PIN.
  static var keepsUnlockKey: Self { Self(code: 83) }
}

extension Attribute where Value == Int64 {
  /// Which PIN ends the unlock that the peer began: 1 the current one, 2 a new one.
  static var unlockPINMode: Self { Self(code: 84) }
  /// The most codes without a synchronization.
  static var offlineCodes: Self { Self(code: 78) }
  /// The most seconds without one.
  static var offlineSeconds: Self { Self(code: 79) }
  /// Which factors make a code, as the peer said: 0, 1, 2, 8, 9.
  static var peerPINMode: Self { Self(code: 80) }
}
