import AuthenticatorKit
import SecretMemory
import VaultCrypto
import VaultKit

/// Codes behind PINs, whose derivations cost what those of real PINs cost.
extension BenchmarkVault {
  /// The PIN of both PIN items. A test of a whole command writes it to a file.
  static let pin = "8306"

  /// The name of a HOTP credential behind a PIN.
  static func name(behind mode: PINMode, _ index: Int = 0) -> String { "\(mode)-\(index)" }

  /// A HOTP code behind a PIN: the PIN is derived, and what its use leaves is on disk before the code is returned.
  func hotp(behind mode: PINMode) -> Workload {
    let id = must {
      makePIN(mode, accounts: 1)
      return try core.item(named: Self.name(behind: mode)).id
    }
    return Workload("HOTP code behind a \(mode) PIN") { [core] in
      _ = try core.nextHOTPCode(of: id, context: Self.context(Self.pin))
    }
  }

  /// Makes the PIN item of a mode with so many credentials behind it, if it is not there. All credentials are in one
  /// transaction.
  func makePIN(_ mode: PINMode, accounts: Int) {
    let new = NewPINItem(mode)
    must {
      guard try core.items(matching: Query(.pin)).allSatisfy({ $0.name != new.name }) else { return }
      let item = try core.makePIN(new, context: Self.context(new: mode == .checked ? Self.pin : nil))
      let pin = try OpenedPIN(item, in: core)
      try core.write { transaction in
        for index in 0..<accounts { try pin.add(Self.name(behind: mode, index), to: &transaction) }
      }
    }
  }

  // MARK: What is counted

  /// What a change of the PIN does.
  func changePIN(_ mode: PINMode) -> Work {
    counting { try core.changePIN(pinItem(mode), context: Self.context(Self.pin, new: "2749")) }
  }

  /// What a HOTP code does.
  func code(behind mode: PINMode, isRight: Bool) -> Work {
    counting {
      let id = try core.item(named: Self.name(behind: mode)).id
      do throws(VaultError) {
        _ = try core.nextHOTPCode(of: id, context: Self.context(isRight ? Self.pin : "2749"))
      } catch { guard error.code == .authenticationFailed else { throw error } }
    }
  }

  func counting(_ body: () throws -> Void) -> Work {
    let before = work
    must(body)
    return work - before
  }

  func pinItem(_ mode: PINMode) throws(VaultError) -> ItemID {
    try core.item(named: NewPINItem(mode).name).id
  }

  static func context(_ pin: String? = nil, new: String? = nil) throws(VaultError)
    -> AuthenticationContext
  {
    let context = AuthenticationContext(reason: "", interaction: .notAllowed)
    if let pin { context.provide(try PIN(SecretBytes(copying: Array(pin.utf8)))) }
    if let new { context.provide(new: try PIN(SecretBytes(copying: Array(new.utf8)))) }
    return context
  }
}

/// What the PIN of an item uncovers, so that a credential is added without a derivation.
private struct OpenedPIN {
  private let guarding: GuardingPIN
  private let vault: VaultID
  private let secret: SharedSecret

  /// Runs one derivation.
  init(_ item: Item, in core: VaultCore) throws(VaultError) {
    let (record, state, vault) = try core.reading {
      transaction throws(VaultError) -> (PINRecord, ItemState, VaultID) in
      (
        try PINRecord(transaction.useSecret(of: item, by: .pin).intoSecret()),
        try transaction.state(of: item.id), transaction.vault
      )
    }
    let digits = SecretBytes(copying: Array(BenchmarkVault.pin.utf8))
    self.vault = vault
    guarding = GuardingPIN(record.mode, item: item.id)
    switch record.mode {
    case .checked:
      let prepared = try record.derivation.prepare(for: .pin, in: core.environment)
      secret = try record.unwrapped(by: digits, prepared, of: item.id, vault: vault)
    case .camouflaged:
      secret = try CamouflagedPIN.key(
        of: digits, offset: state.pinOffset, by: record.derivation, environment: core.environment)
    }
  }

  func add(_ name: String, to transaction: inout WriteTransaction) throws(VaultError) {
    var new = NewItem(.otp, name: name)
    let id = ItemID(try SystemRandom().newBytes(16))!
    new.id = id
    new.attributes[.otpType] = 1
    new.attributes[.otpPeriod] = 30
    new.attributes[.otpRole] = 1
    new.attributes[.otpAlgorithm] = 1
    new.attributes[.otpDigits] = 6
    new.attributes[.account] = name
    new.attributes[.pinItem] = guarding.item.bytes
    new.guardingPIN = guarding
    let key = try SecretBytes.random(byteCount: 20)
    switch guarding.mode {
    case .checked:
      _ = try transaction.add(new, secret: key, by: Component(.otp, pin: .checked(secret)))
    case .camouflaged:
      let masked = CamouflagedPIN.masked(key, by: secret, of: id, vault: vault)
      _ = try transaction.add(new, secret: masked, by: Component(.otp, pin: .camouflaged))
    }
  }
}
