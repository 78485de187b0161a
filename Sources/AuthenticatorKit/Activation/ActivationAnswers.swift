import OneTimePassword
import SecretMemory
import VaultKit

/// The answer to `activationStart`, checked.
struct StartedActivation {
  let peer: String
  let secret: SharedSecret
  let seconds: UInt64
  let mode: PINFactors
  let keepsUnlockKey: Bool
  let service: String?
  let account: String?
  let issuer: String?

  /// - Throws: ``VaultError/Code/network``.
  init(_ answer: TransportFields) throws(VaultError) {
    peer = try TransportFields.required("peer", answer.text("peer", 1...255))
    secret = try TransportFields.required("secretBase64", answer.secret("secretBase64", 16...256))
    seconds = try answer.lifeSeconds(300)
    let number = try answer.number("pinMode", 0...9) ?? 0
    guard [0, 1, 2, 8, 9].contains(number) else {
      throw .peerAnswered("'pinMode' is none of 0, 1, 2, 8 and 9")
    }
    mode = PINFactors(rawValue: Int(number))
    keepsUnlockKey = try answer.flag("keepsUnlockKey") ?? false
    service = try answer.name("service")
    account = try answer.name("account")
    issuer = try answer.name("issuer")
  }
}

/// The answer to `activationFinish`, checked.
struct FinishedActivation {
  let credential: NewPeerCredential
  let device: NewPeerCredential?
  let limits: OfflineLimits
  /// What a prover adds to its wall clock.
  let secondsOffset: Int32

  /// - Parameter activation: The secret of the activation.
  /// - Throws: ``VaultError/Code/network``.
  init(_ answer: TransportFields, after activation: SharedSecret, now: Instant) throws(VaultError) {
    credential = try NewPeerCredential(
      TransportFields.required("credential", answer.fields("credential")))
    device =
      if let fields = try answer.fields("deviceCredential") { try NewPeerCredential(fields) } else { nil }
    // Both of the others are stored without the PIN: an equal one would be the key that the PIN guards, and would tell a
    // camouflaged PIN.
    for other in [activation, device?.secret].compactMap({ $0 }) {
      guard !credential.secret.bytes.isEqualInConstantTime(to: other.bytes) else {
        throw .peerAnswered("the secret of 'credential' is not its own")
      }
    }
    limits = try OfflineLimits(answer)
    secondsOffset = try answer.secondsOffset(from: now) ?? 0
  }
}

/// A credential as an answer describes it.
struct NewPeerCredential {
  /// What it is, with the attributes that say so and its counter.
  let attributes: Attributes
  let counter: UInt64
  let secret: SharedSecret

  /// The word of its type: `hotp`, `totp` or `ocra`.
  let type: String

  /// - Throws: ``VaultError/Code/network``.
  init(_ fields: TransportFields) throws(VaultError) {
    type = try TransportFields.required("type", fields.text("type", 1...16))
    secret = try TransportFields.required("secretBase64", fields.secret("secretBase64", 10...512))
    // The last counter makes one code, and no server begins with it.
    let counter = try fields.number("counter", 0...UInt64.max - 1) ?? 0
    var hasCounter = false
    switch type {
    case "hotp":
      (attributes, hasCounter) = (try Self.attributes(.hotp(counter: counter), fields, key: secret), true)
    case "totp":
      let period = try fields.number("periodSeconds", 1...86_400) ?? 30
      attributes = try Self.attributes(.totp(periodSeconds: Int64(period)), fields, key: secret)
    case "ocra": (attributes, hasCounter) = try Self.attributesOfSuite(fields, key: secret)
    default: throw .peerAnswered("'type' is none of hotp, totp and ocra")
    }
    self.counter = hasCounter ? counter : 0
  }

  private static func attributes(
    _ kind: OTPAuthURI.Kind, _ fields: TransportFields, key: SharedSecret
  ) throws(VaultError) -> Attributes {
    let word = try fields.text("algorithm", 1...16) ?? OTPAlgorithm.sha1.rawValue
    guard let algorithm = OTPAlgorithm(rawValue: word) else {
      throw .peerAnswered("'algorithm' is none of SHA1, SHA256 and SHA512")
    }
    let digits = try fields.number("digits", 6...8) ?? 6
    do throws(VaultError) {
      let uri = try otp { () throws(OTPError) in
        try OTPAuthURI(
          kind: kind, account: "", secret: key.bytes.copy(), algorithm: algorithm, digits: Int(digits))
      }
      return try OTPItem.attributes(of: uri, role: .prover, window: nil)
    } catch { throw .peerAnswered(error.message) }
  }

  private static func attributesOfSuite(
    _ fields: TransportFields, key: SharedSecret
  ) throws(VaultError) -> (Attributes, hasCounter: Bool) {
    let text = try TransportFields.required("suite", fields.text("suite", 1...255))
    do throws(VaultError) {
      let suite = try otp { () throws(OTPError) in try OCRASuite(text) }
      return (try NewOCRACredential(suite, name: "").item(key: key.bytes).attributes, suite.hasCounter)
    } catch { throw .peerAnswered(error.message) }
  }

  /// The item of an active credential.
  ///
  /// - Parameter described: The attributes that do not depend on its type.
  func item(
    named name: String, described: Attributes, access: AccessControl, now: Instant
  ) -> NewItem {
    var all = described
    all.merge(attributes)
    var new = NewItem(.otp, name: name, attributes: all, access: access)
    new.state.set(.active)
    new.state.counter = counter
    new.state.lastSynchronization = now
    return new
  }
}

extension Item {
  /// What people, programs and its server said about it: all but what describes its secret, and an unlock. It stays when a
  /// credential gets another secret.
  var lastingAttributes: Attributes {
    var kept = attributes
    for attribute in [
      Attribute<Int64>.otpType, .otpRole, .otpAlgorithm, .otpDigits, .otpPeriod, .otpWindow, .otpSecretBits,
      .unlockPINMode,
    ] {
      kept[attribute] = nil
    }
    for attribute in [Attribute<String>.name, .ocraSuite, .unlock] { kept[attribute] = nil }
    kept[.keepsUnlockKey] = nil
    kept[.activated] = nil
    return kept
  }
}
