import AuthenticatorKit
import OneTimePassword
import SecretMemory
import VaultExpectations
import VaultKit
import VaultTestKit

/// A credential, behind the checked PIN 8306 if wanted, that the peer `/opt/peer` has activated if wanted. The key is that of
/// RFC 4226.
struct PeerScene {
  enum Kind: CaseIterable {
    case hotp
    case totp
    case countedSuite
    case plainSuite
    case timedSuite

    var suite: String? {
      switch self {
      case .hotp, .totp: nil
      case .countedSuite: "OCRA-1:HOTP-SHA1-6:C-QH64"
      case .plainSuite: "OCRA-1:HOTP-SHA1-6:QH64"
      case .timedSuite: "OCRA-1:HOTP-SHA1-6:QH64-T1M"
      }
    }
    var counts: Bool { self == .hotp || self == .countedSuite }
  }

  static let key = Array("12345678901234567890".utf8)
  let rig: PINRig
  let kind: Kind
  /// The PIN item, if there is one.
  let pin: ItemID?
  let id: ItemID
  var core: VaultCore { rig.core }

  init(
    _ kind: Kind = .hotp, mode: PINFactors? = .current, guarded: Bool = true,
    _ limits: OfflineLimits = OfflineLimits(),
    passcode: String? = nil, rig: PINRig? = nil
  ) throws {
    let rig = try rig ?? PINRig(passcode: passcode)
    let pin = guarded ? try rig.checked() : nil
    (self.rig, self.kind, self.pin) = (rig, kind, pin)
    let context = try rig.context("8306")
    if let suite = kind.suite {
      var new = NewOCRACredential(try OCRASuite(suite), name: "bank")
      (new.offlineCodes, new.offlineSeconds) = (limits.codes, limits.seconds)
      id = try rig.core.addOCRA(new, key: SecretBytes(copying: Self.key), pin: pin, context: context).item.id
    } else {
      let uri = try rig.uri(Self.key, kind: kind == .hotp ? .hotp(counter: 0) : .totp(periodSeconds: 30))
      id = try rig.core.addOTP(uri, named: "bank", pin: pin, limits: limits, context: context).item.id
    }
    if let mode { try rig.core.activate(id, mode: mode) }
    rig.derivations.reset()
  }

  var state: ItemState { get throws { try core.state(of: id) } }
  var item: Item { get throws { try core.item(named: "bank") } }
  var sequence: UInt64 { get throws { try core.status().sequence } }

  static func request(for data: String = "data") throws -> OCRARequest {
    OCRARequest(
      try OCRAQuestion(data: Array(data.utf8).span, for: OCRASuite("OCRA-1:HOTP-SHA1-6:QH64")))
  }

  /// A code without the peer.
  @discardableResult
  func code(_ pin: String? = "8306", in core: VaultCore? = nil) throws(VaultError) -> String {
    let core = core ?? self.core
    let context = try rig.context(pin)
    switch kind {
    case .hotp: return try core.nextHOTPCode(of: id, context: context).code
    case .totp: return try core.timedCode(of: id, context: context).code
    default:
      let request: OCRARequest
      do { request = try Self.request() } catch { throw VaultError(.malformed, "\(error)") }
      return try core.signOCRA(request, with: id, context: context).code
    }
  }

  /// The code of the error of a code that cannot be had.
  func refusal(_ pin: String? = "8306") -> VaultError.Code? {
    thrown { () throws(VaultError) in try code(pin) }?.code
  }

  func synchronize(
    _ pin: String? = "8306", passcode: String? = nil, over transport: any Transport
  ) throws(VaultError) -> ServerSynchronization {
    let context = try rig.context(pin, passcode: passcode)
    return try core.synchronize(id, over: transport, context: context)
  }

  /// A peer whose answers have these members.
  static func answering(
    _ fields: KeyValuePairs<String, TransportValue>, _ identity: String = "/opt/peer"
  ) -> ScriptedTransport {
    let fields = TransportFields(fields)
    return ScriptedTransport(identity) { _ throws(VaultError) in fields }
  }
}

extension TransportFields {
  func text(_ name: String) -> String? {
    guard case .text(let text)? = self[name] else { return nil }
    return text
  }
  func number(_ name: String) -> UInt64? {
    guard case .number(let number)? = self[name] else { return nil }
    return number
  }
}
