import AuthenticatorKit
import OneTimePassword
import SecretMemory
import Synchronization
import Testing
import VaultKit
import VaultTestKit

/// A vault for tests of PINs, which counts derivations.
struct PINRig {
  static let rfc4226 = ["755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583"]
  /// A random key, so that it may be camouflaged.
  static let rawKey: [UInt8] = [
    0x9F, 0x3B, 0x0C, 0xD1, 0xE4, 0x82, 0x77, 0x16, 0xA0, 0x5B, 0xFE, 0x33, 0x09, 0xC4, 0xD8, 0x12, 0x7A,
    0xE6, 0x61, 0x4F,
  ]

  let clock = FixedClock()
  let derivations = Derivations()
  let memory = Memory()
  let place: TemporaryVault
  let core: VaultCore

  init(passcode: String? = nil) throws {
    let (derivations, memory) = (derivations, memory)
    var environment = VaultEnvironment.testing(clock: clock, derivationObserver: { derivations.add() })
    environment.hasMemoryForDerivation = { memory.isThere() }
    place = TemporaryVault(environment: environment)
    core = try place.makeCore(passcode: passcode)
  }

  /// A context that was given a PIN, and perhaps a new one.
  func context(_ pin: String? = nil, new: String? = nil, passcode: String? = nil) throws(VaultError)
    -> AuthenticationContext
  {
    let context = AuthenticationContext(reason: "test")
    if let pin { context.provide(try PIN(SecretBytes(testing: pin))) }
    if let new { context.provide(new: try PIN(SecretBytes(testing: new))) }
    if let passcode { context.provide(try Passcode(testing: passcode)) }
    return context
  }

  func checked(_ pin: String = "8306", limit: Int? = nil) throws -> ItemID {
    var new = NewPINItem(.checked)
    new.limit = limit
    return try core.makePIN(new, context: context(new: pin)).id
  }

  func camouflaged() throws -> ItemID { try core.makePIN(NewPINItem(.camouflaged)).id }

  func uri(
    _ key: [UInt8], kind: OTPAuthURI.Kind = .hotp(counter: 0)
  ) throws -> OTPAuthURI { try OTPAuthURI(kind: kind, account: "a", secret: SecretBytes(copying: key)) }

  /// A HOTP credential with the key of RFC 4226 behind a checked PIN.
  func credential(behind pin: ItemID, named name: String = "bank", typing digits: String = "8306") throws
    -> ItemID
  {
    let uri = try uri(Array("12345678901234567890".utf8))
    return try core.addOTP(uri, named: name, pin: pin, context: context(digits)).item.id
  }

  /// A HOTP credential behind a camouflaged PIN.
  func masked(
    behind pin: ItemID, named name: String = "bank", typing digits: String = "8306"
  ) throws -> ItemID {
    try core.addOTP(uri(Self.rawKey), named: name, pin: pin, context: context(digits)).item.id
  }

  /// The code of ``rawKey`` for a counter.
  func code(at counter: UInt64) throws -> String {
    try HOTPGenerator(key: SecretBytes(copying: Self.rawKey)).code(at: counter)
  }

  func counter(of id: ItemID) throws -> UInt64 { try core.state(of: id).counter }
}

/// The memory of derivations.
final class Memory: Sendable {
  private struct State {
    var asked = 0
    var answer: (@Sendable (Int) -> Bool)?
  }
  private let state = Mutex(State())

  fileprivate func isThere() -> Bool {
    let (number, answer) = state.withLock { state in
      state.asked += 1
      return (state.asked, state.answer)
    }
    return answer?(number) ?? true
  }

  /// How many derivations have asked for it.
  var asked: Int { state.withLock { $0.asked } }

  /// Starts again from 0. There is always enough of it, unless something says no to the n-th derivation.
  func reset(_ answer: (@Sendable (Int) -> Bool)? = nil) {
    state.withLock { $0 = State(asked: 0, answer: answer) }
  }
}

/// Counts derivations, and runs something at one of them.
final class Derivations: Sendable {
  private struct State {
    var count = 0
    var hook: (@Sendable (Int) -> Void)?
  }
  private let state = Mutex(State())

  var count: Int { state.withLock { $0.count } }

  func add() {
    let (count, hook) = state.withLock { state in
      state.count += 1
      return (state.count, state.hook)
    }
    hook?(count)
  }

  /// Starts again from 0.
  func reset(_ hook: (@Sendable (Int) -> Void)? = nil) {
    state.withLock { $0 = State(count: 0, hook: hook) }
  }
}
