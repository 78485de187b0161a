import AuthenticatorKit
import Glibc
import OneTimePassword
import SecretMemory
import Synchronization
import VaultKit
import VaultTestKit

/// Makes, uses and changes PINs, credentials behind them and a biokey, and waits while the test searches its memory (R7): in
/// the derivation of a PIN, with the vault open, and with the vault closed.
///
/// The secrets come on standard input, one after the other, so they are in no argument.
enum PINSecrets {
  static func run(_ rig: Rig, passcode: String, phrase: String) {
    do {
      var use: Use? = try Use(rig, passcode: passcode, phrase: phrase)
      try use!.enroll()
      try use!.makeCodes()
      try use!.change()
      pause("open")
      use = nil
      pause("closed")
    } catch {
      say("ERROR \(error)")
      exit(1)
    }
  }

  /// Prints the state, and waits for a byte.
  fileprivate static func pause(_ state: String) {
    say(state)
    var byte: UInt8 = 0
    guard unsafe read(0, &byte, 1) == 1 else { fail("the test has ended") }
  }
}

/// An open vault, with what the test has given.
private final class Use {
  private let core: VaultCore
  private let stop: DerivationStop
  private let passcode: String
  private let phrase: String
  private let pin = secret(16)
  private let newPIN = secret(16)
  private let camouflaged = secret(6)
  private let newCamouflaged = secret(6)
  private let keys = (secret(20), secret(20))

  init(_ rig: Rig, passcode: String, phrase: String) throws(VaultError) {
    let stop = DerivationStop()
    var rig = rig
    rig.environment = .testing(derivationObserver: { stop.pass() })
    core = try rig.open()
    self.stop = stop
    self.passcode = passcode
    self.phrase = phrase
    try core.unlock(with: Passcode(testing: passcode))
  }

  /// Makes both PINs, a credential behind each, and a biokey.
  func enroll() throws {
    var new = NewPINItem(.checked)
    new.policy = try PINPolicy(lengths: 16...16)
    let checked = try core.makePIN(new, context: context(new: pin)).id
    try add("checked", keys.0, behind: checked, context(pin))
    let masked = try core.makePIN(NewPINItem(.camouflaged)).id
    try add("masked", keys.1, behind: masked, context(camouflaged))
    _ = try core.registerBiokey(NewBiokey(), for: checked, context: context(pin))
  }

  /// Makes codes by PIN and by biokey, and one that a wrong PIN does not make.
  func makeCodes() throws {
    let checked = try core.item(named: "checked").id
    let context = try context(pin)
    stop.isNext.store(true, ordering: .relaxed)
    _ = try core.nextHOTPCode(of: checked, context: context)
    _ = try? core.nextHOTPCode(of: checked, context: self.context(newPIN))
    _ = try core.verifyPIN(core.item(named: "pin").id, context: self.context(pin))
    let member = AuthenticationContext(reason: "")
    member.provide(try BiometricPhrase(testing: phrase))
    _ = try core.nextHOTPCode(of: checked, by: .biometric, context: member)
    _ = try core.nextHOTPCode(of: core.item(named: "masked").id, context: self.context(camouflaged))
  }

  /// Changes both PINs, and makes a code behind each.
  func change() throws {
    let checked = try core.item(named: "pin").id
    try core.changePIN(checked, keepingBiokeys: true, context: context(pin, new: newPIN))
    _ = try core.nextHOTPCode(of: core.item(named: "checked").id, context: context(newPIN))
    let masked = try core.item(named: "pin-camouflaged").id
    try core.changePIN(masked, context: context(camouflaged, new: newCamouflaged))
    _ = try core.nextHOTPCode(of: core.item(named: "masked").id, context: context(newCamouflaged))
    try core.confirmPIN(masked)
  }

  private func add(
    _ name: String, _ key: SharedSecret, behind pin: ItemID, _ context: AuthenticationContext
  ) throws {
    let uri = try OTPAuthURI(kind: .hotp(counter: 0), account: name, secret: key.bytes.copy())
    _ = try core.addOTP(uri, named: name, pin: pin, context: context)
  }

  private func context(
    _ pin: SharedSecret? = nil, new: SharedSecret? = nil
  ) throws(VaultError) -> AuthenticationContext {
    let anyLength = try PINPolicy(lengths: 4...16)
    let context = AuthenticationContext(reason: "", interaction: .notAllowed)
    if let pin { context.provide(try PIN(pin.bytes.copy(), policy: anyLength)) }
    if let new { context.provide(new: try PIN(new.bytes.copy(), policy: anyLength)) }
    return context
  }

  /// The next bytes of standard input.
  private static func secret(_ byteCount: Int) -> SharedSecret {
    var bytes = SecretBytes(zeroes: byteCount)
    unsafe bytes.modify { space in
      var done = 0
      while done < byteCount {
        let count = unsafe read(0, space.baseAddress! + done, byteCount - done)
        guard count > 0 else { fail("a secret is missing") }
        done += count
      }
    }
    return SharedSecret(bytes)
  }
}

/// Stops the process in one derivation.
private final class DerivationStop: Sendable {
  let isNext = Atomic(false)

  func pass() {
    if isNext.exchange(false, ordering: .relaxed) { PINSecrets.pause("deriving") }
  }
}
