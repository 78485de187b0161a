import AuthenticatorKit
import OneTimePassword
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

extension Torture {
  /// R23, by generated sequences: right and wrong PINs, uses of three kinds, memory that is missing for the first or the second
  /// derivation, and new keys of another process during one. A model of one number says how many attempts are left.
  ///
  /// Verified to fail when the memory is obtained after the attempt is counted, and when a use does not go on under new keys.
  @Suite("The attempts of a PIN and their model", .bounded, .requirement("R23"))
  struct AttemptModels {
    @Test("only a verdict changes how many attempts are left")
    func sequences() throws {
      for round in 0..<Scale.pick(3, long: 100) {
        var model = try AttemptModel(seed: Scale.seed &+ UInt64(round))
        for _ in 0..<80 { try model.step() }
        try expect(model.core.verify().problems, equals: [])
      }
    }
  }

  private enum Use: CaseIterable { case verification, code, change }

  /// A vault with a PIN, and what must be true of it.
  private struct AttemptModel {
    private static let limit = 5
    private let random: SeededRandom
    private let machine = Machine()
    private let place: TemporaryVault
    let core: VaultCore
    private let pin: ItemID
    private let credential: ItemID
    private let unlockKey: PINUnlockKey
    private var digits = "8306"
    private var left = Self.limit
    private var counter: UInt64 = 0

    init(seed: UInt64) throws {
      random = SeededRandom(seed: seed)
      place = TemporaryVault(environment: machine.environment, in: Place.fast)
      core = try place.makeCore()
      let other = try place.openCore()
      machine.makeKeys = { #expect(throws: Never.self) { try other.rotateEpoch() } }
      unlockKey = try PINUnlockKey.fresh()
      var new = NewPINItem(.checked)
      (new.limit, new.unlockKey) = (Self.limit, unlockKey)
      pin = try core.makePIN(new, context: Self.context(new: digits)).id
      let uri = try OTPAuthURI(
        kind: .hotp(counter: 0), account: "a", secret: SecretBytes(testing: "12345678901234567890"))
      credential = try core.addOTP(uri, named: "bank", pin: pin, context: Self.context(digits)).item.id
    }

    mutating func step() throws {
      guard left > 0 else { return try unlock() }
      let use = Use.allCases[random.below(3)]
      let isRight = random.below(10) < 6
      let missing = [0, 0, 0, 1, 2][random.below(5)]
      let next = digits == "8306" ? "2749" : "8306"
      let context = try Self.context(isRight ? digits : "7052", new: next)
      machine.begin(missing: missing, makesKeys: random.below(3) == 0)
      let error = thrown { () throws(VaultError) in try run(use, context) }
      machine.begin()
      var expected: VaultError.Code?
      if missing == 1 {
        expected = .io
      } else if !isRight {
        expected = .authenticationFailed
        left -= 1
        expect(error?.attemptsLeft, equals: left)
      } else {
        left = Self.limit
        if use == .code { counter += 1 }
        if use == .change, missing == 2 { expected = .io } else if use == .change { digits = next }
      }
      expect(error?.code, equals: expected, "\(use), right: \(isRight), missing: \(missing)")
      try check()
    }

    private func run(_ use: Use, _ context: AuthenticationContext) throws(VaultError) {
      switch use {
      case .verification: _ = try core.verifyPIN(pin, context: context)
      case .code: _ = try core.nextHOTPCode(of: credential, context: context)
      case .change: try core.changePIN(pin, context: context)
      }
    }

    private mutating func unlock() throws {
      let context = try Self.context(digits)
      expect(.blocked) { () throws(VaultError) in _ = try core.verifyPIN(pin, context: context) }
      digits = "6193"
      try core.unlockPIN(pin, with: unlockKey, context: Self.context(new: digits))
      left = Self.limit
      try check()
    }

    private func check() throws {
      let state = try core.state(of: pin)
      expect(Self.limit - Int(state.failures), equals: left)
      expect(state.attemptsUnderWay, equals: 0)
      try expect(core.state(of: credential).counter, equals: counter)
    }

    private static func context(_ pin: String? = nil, new: String? = nil) throws -> AuthenticationContext {
      let context = AuthenticationContext(reason: "")
      if let pin { context.provide(try PIN(SecretBytes(testing: pin))) }
      if let new { context.provide(new: try PIN(SecretBytes(testing: new))) }
      return context
    }
  }

  /// What a machine lacks, and what another process does, at the derivations of one use.
  private final class Machine: Sendable {
    private struct State {
      var asked = 0
      var missing = 0
      var makesKeys = false
      var keys: (@Sendable () -> Void)?
    }
    private let state = Mutex(State())

    var makeKeys: (@Sendable () -> Void)? {
      get { state.withLock { $0.keys } }
      set { state.withLock { $0.keys = newValue } }
    }

    /// - Parameter missing: The derivation for which there is no memory; 0 for none.
    func begin(missing: Int = 0, makesKeys: Bool = false) {
      state.withLock { ($0.asked, $0.missing, $0.makesKeys) = (0, missing, makesKeys) }
    }

    var environment: VaultEnvironment {
      var environment = VaultEnvironment.testing(derivationObserver: {
        let keys = self.state.withLock { state in
          defer { state.makesKeys = false }
          return state.makesKeys ? state.keys : nil
        }
        keys?()
      })
      environment.hasMemoryForDerivation = {
        self.state.withLock { state in
          state.asked += 1
          return state.asked != state.missing
        }
      }
      return environment
    }
  }
}
