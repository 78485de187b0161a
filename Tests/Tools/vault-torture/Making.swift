import AuthenticatorKit
import Glibc
import OneTimePassword
import SecretMemory
import VaultKit
import VaultTestKit

/// Builds a vault with every kind of item and class, closes it, and prints its content (R8).
enum Making {
  /// - Parameter extra: The number of additional plain items. In a large vault, opening no longer sums up all rows.
  static func run(_ rig: Rig, seed: UInt64, passcode: String, extra: Int) {
    do throws(VaultError) {
      let core = try rig.create(passcode: passcode.isEmpty ? nil : passcode)
      try fill(core, hasPasscode: !passcode.isEmpty)
      var transaction = try core.beginWriting()
      for index in 0..<extra {
        var new = NewItem(.genericPassword, name: "extra \(index)")
        new.attributes[.service] = "service \(index % 7)"
        _ = try transaction.add(new, secret: SecretBytes(testing: "extra secret \(index)"))
      }
      try transaction.commit()
      try Content(of: core).say(to: 1)
    } catch { fail("make: \(error.word) \(error.message)") }
  }

  private static func fill(_ core: VaultCore, hasPasscode: Bool) throws(VaultError) {
    let kinds: [ItemKind] = [
      .genericPassword, .internetPassword, .key, .certificate, .pin, .biokey, .cardToken, .consent,
      .clientRegistration, .transaction, .tokenSet, .responseJWT, .attachment, ItemKind(rawValue: 999),
    ]
    for (index, kind) in kinds.enumerated() {
      let access = accesses(hasPasscode)[index % accesses(hasPasscode).count]
      _ = try core.add(
        item(kind, access), secret: SecretBytes(testing: "secret of kind \(kind.rawValue)"),
        by: Component(kind))
    }
    for (index, access) in accesses(hasPasscode).enumerated() {
      _ = try core.add(
        NewItem(
          .genericPassword, name: "class \(index)", access: access, audit: index == 0 ? .all : .changes),
        secret: SecretBytes(testing: "secret of class \(index)"))
    }
    try fillSizes(core)
    try fillCredentials(core)
  }

  static func accesses(_ hasPasscode: Bool) -> [AccessControl] {
    let always: [AccessControl] = [
      AccessControl(), AccessControl(.afterFirstUnlock), AccessControl(.whenUnlocked, thisDeviceOnly: true),
      AccessControl(.afterFirstUnlock, thisDeviceOnly: true),
    ]
    return always + (hasPasscode ? [AccessControl(.whenPasscodeSet)] : [])
  }

  private static func item(_ kind: ItemKind, _ access: AccessControl) -> NewItem {
    var new = NewItem(kind, name: kind.hasName ? "kind \(kind.rawValue)" : nil, access: access)
    new.attributes[.label] = "label of \(kind.rawValue)"
    new.attributes[.server] = "server.example"
    new.attributes[.port] = 443
    new.attributes[.synchronizable] = true
    new.attributes[.serialNumber] = [1, 2, 3, UInt8(truncatingIfNeeded: kind.rawValue)]
    new.state.counter = 40
    return new
  }

  /// Adds items without a secret, with an empty one, and with contents that span several pages; and items that have
  /// expired or will expire.
  private static func fillSizes(_ core: VaultCore) throws(VaultError) {
    _ = try core.add(NewItem(.genericPassword, name: "without"))
    _ = try core.add(NewItem(.genericPassword, name: "empty"), secret: SecretBytes(copying: []))
    var long = NewItem(.genericPassword, name: "long")
    long.attributes[.comment] = String(repeating: "long comment ", count: 500)
    _ = try core.add(long, secret: SecretBytes(copying: [UInt8](repeating: 0xA5, count: 9000)))
    let now = SystemClock().now()
    _ = try core.add(
      NewItem(.genericPassword, name: "expired", expires: now.advanced(byMilliseconds: -60_000)),
      secret: SecretBytes(testing: "expired secret"))
    _ = try core.add(
      NewItem(.cardToken, name: "expires", expires: now.advanced(byMilliseconds: 86_400_000)),
      secret: SecretBytes(testing: "token secret"), by: Component(.cardToken))
  }

  private static func fillCredentials(_ core: VaultCore) throws(VaultError) {
    let kinds: [(String, OTPAuthURI.Kind)] = [
      ("hotp", .hotp(counter: 100)), ("totp", .totp(periodSeconds: 30)), ("steam", .steam),
    ]
    for (name, kind) in kinds {
      for role in [OTPRole.prover, .verifier] {
        let uri = try credential(name, kind)
        _ = try core.addOTP(uri, named: name + " \(role.rawValue)", role: role)
      }
    }
    for role in [OTPRole.prover, .verifier] {
      try core.addSigner("ocra \(role.rawValue)", role: role)
    }
  }

  static func credential(_ account: String, _ kind: OTPAuthURI.Kind) throws(VaultError) -> OTPAuthURI {
    do throws(OTPError) {
      return try OTPAuthURI(
        kind: kind, issuer: "issuer", account: account, secret: SecretBytes(testing: "12345678901234567890"))
    } catch { throw VaultError(otp: error) }
  }
}

extension VaultCore {
  /// Adds a credential with a suite with a counter.
  fileprivate func addSigner(_ name: String, role: OTPRole) throws(VaultError) {
    let suite: OCRASuite
    do throws(OTPError) { suite = try OCRASuite("OCRA-1:HOTP-SHA256-8:C-QH64") } catch {
      throw VaultError(otp: error)
    }
    _ = try addOCRA(
      NewOCRACredential(suite, name: name, role: role), key: SecretBytes(testing: "12345678901234567890"))
  }
}
