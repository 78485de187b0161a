import AuthenticatorKit
import Foundation
import OneTimePassword
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Checked PINs", .bounded)
struct CheckedPINTests {
  @Test("a code behind a PIN is the server's, and one PIN serves any number of credentials")
  func codes() throws {
    let rig = try PINRig()
    let pin = try rig.checked()
    let (first, second) = (try rig.credential(behind: pin), try rig.credential(behind: pin, named: "shop"))
    for code in PINRig.rfc4226.prefix(3) {
      for id in [first, second] {
        try expect(rig.core.nextHOTPCode(of: id, context: rig.context("8306")).code, equals: code)
      }
    }
    try expect(rig.core.verify().problems, equals: [])
    let status = try #require(try rig.core.pinStatuses(of: pin).first)
    #expect((status.name, status.mode, status.limit, status.attemptsLeft) == ("pin", .checked, 10, 10))
    expect(status.credentials, equals: [first, second])
    #expect((status.uses, status.factors, status.codesSinceConfirmation) == (8, .current, 0))
  }

  /// Verified to fail when the gate opens an item without its PIN, and when a PIN is deleted with items behind it.
  @Test("without a PIN there is no code, and the counter stays", .requirement("A5", "B5"))
  func nothingGiven() throws {
    let rig = try PINRig()
    let pin = try rig.checked()
    let id = try rig.credential(behind: pin)
    rig.derivations.reset()
    expect(.interactionNotAllowed) { () throws(VaultError) in
      _ = try rig.core.nextHOTPCode(of: id, context: AuthenticationContext(reason: ""))
    }
    expect(.interactionNotAllowed) { () throws(VaultError) in _ = try rig.core.nextHOTPCode(of: id) }
    // The PIN cannot be taken away: neither its item nor the rule of the credential.
    expect(.policy) { () throws(VaultError) in try rig.core.delete(pin) }
    expect(.policy) { () throws(VaultError) in
      try rig.core.update(id, ItemChanges(removed: [Attribute<[UInt8]>.pinItem.code]))
    }
    try expect(rig.counter(of: id), equals: 0)
    expect(rig.derivations.count, equals: 0)
  }

  /// Verified to fail when the attempt is counted after the derivation, and when `takeCounter` runs in another commit.
  @Test(
    "an attempt is on disk before its derivation, and its verdict in the commit of the counter",
    .requirement("A6"))
  func commits() throws {
    let rig = try PINRig()
    let id = try rig.credential(behind: rig.checked())
    let pin = try rig.core.item(named: "pin").id
    let before = try rig.core.status().sequence
    let place = rig.place
    let counted = Mutex<[UInt32]>([])
    rig.derivations.reset { _ in
      let state = try? place.openCore().state(of: pin)
      counted.withLock { $0.append(state?.attemptsUnderWay ?? 99) }
    }
    _ = try rig.core.nextHOTPCode(of: id, context: rig.context("8306"))
    expect(counted.withLock { $0 }, equals: [1])
    try expect(rig.core.status().sequence, equals: before + 2)
    try expect(rig.core.state(of: pin).attemptsUnderWay, equals: 0)
    #expect(throws: VaultError.self) { try rig.core.nextHOTPCode(of: id, context: rig.context("8307")) }
    expect(counted.withLock { $0 }, equals: [1, 1])
    try expect(rig.core.status().sequence, equals: before + 4)
    try expect(rig.counter(of: id), equals: 1)
  }

  /// Verified to fail when a wrong verdict does not count, and when the attempt is counted after the derivation.
  @Test(
    "a limit of 10 is 10 derivations; then nothing is derived, also for the right PIN",
    .requirement("A7", "R5"))
  func limit() throws {
    let rig = try PINRig()
    let id = try rig.credential(behind: rig.checked())
    rig.derivations.reset()
    for left in (0..<10).reversed() {
      let error = thrown { () throws(VaultError) in
        _ = try rig.core.nextHOTPCode(of: id, context: rig.typing("8307"))
      }
      expect(error?.code, equals: .authenticationFailed)
      expect(error?.attemptsLeft, equals: left)
    }
    expect(rig.derivations.count, equals: 10)
    for digits in ["8306", "8307"] {
      expect(.blocked) { () throws(VaultError) in
        _ = try rig.core.nextHOTPCode(of: id, context: rig.typing(digits))
      }
    }
    expect(rig.derivations.count, equals: 10)
    try expect(rig.counter(of: id), equals: 0)
    try expect(rig.core.auditEntries().suffix(2).map(\.operation), equals: [.accessDenied, .accessDenied])
    let status = try #require(try rig.place.openCore().pinStatuses().first)
    #expect(status.isBlocked)
    expect(status.attemptsLeft, equals: 0)
  }

  @Test("a right PIN starts the count again, in each use that asks for it")
  func success() throws {
    let rig = try PINRig()
    let pin = try rig.checked(limit: 5)
    let id = try rig.credential(behind: pin)
    let uses: [(AuthenticationContext) throws -> Void] = [
      { _ = try rig.core.nextHOTPCode(of: id, context: $0) },
      { _ = try rig.core.verifyPIN(pin, context: $0) },
      { try rig.core.setCounter(of: id, to: 0, force: true, context: $0) },
      { _ = try rig.core.exportOTP(of: id, context: $0) },
      { _ = try rig.core.addOTP(rig.uri(PINRig.rawKey), named: UUID().uuidString, pin: pin, context: $0) },
    ]
    for use in uses {
      for _ in 0..<4 { #expect(throws: VaultError.self) { try use(rig.context("8307")) } }
      try expect(rig.core.pinStatuses(of: pin).first?.attemptsLeft, equals: 1)
      try use(rig.context("8306"))
      try expect(rig.core.pinStatuses(of: pin).first?.attemptsLeft, equals: 5)
    }
  }

  /// Verified to fail when the sum of failures and attempts under way is not compared with the limit.
  @Test("many at a time do not get more attempts than the limit", .requirement("R5"))
  func parallel() throws {
    let rig = try PINRig()
    let id = try rig.credential(behind: rig.checked(limit: 5))
    let guessers = Crowd()
    let refused = Atomic(0)
    // No guess is judged before each of the twelve is in a derivation, waits for the verdicts, or was refused.
    rig.derivations.reset { _ in guessers.meet() }
    let environment = VaultEnvironment.testing(
      clock: WatchedClock(rig.clock) { guessers.look() }, derivationObserver: { rig.derivations.add() })
    guessers.run(12) { _ in
      let place = (rig.place.path, rig.place.protector)
      guard let core = try? VaultCore.open(at: place.0, protector: place.1, environment: environment)
      else { return }
      let error = thrown { () throws(VaultError) in
        _ = try core.nextHOTPCode(of: id, context: rig.context("8307"))
      }
      if error != nil { refused.add(1, ordering: .relaxed) }
    }
    expect(rig.derivations.count, equals: 5)
    expect(refused.load(ordering: .relaxed), equals: 12)
    #expect(try rig.core.pinStatuses().first?.isBlocked == true)
  }

  /// The outer attempt has no verdict while the clock passes 10 s. Verified to fail when such an attempt is taken back.
  @Test(
    "an attempt without a verdict for 10 s, or in an earlier boot, is a wrong one", .requirement("A7"),
    arguments: [true, false])
  func killed(isReboot: Bool) throws {
    let rig = try PINRig()
    let pin = try rig.checked(limit: 5)
    let place = rig.place
    let clock = rig.clock
    let failures = Mutex<[UInt32]>([])
    rig.derivations.reset { count in
      guard count == 1 else { return }
      if isReboot { clock.reboot() } else { clock.advance(by: .seconds(10)) }
      guard let other = try? place.openCore(), let context = try? rig.context("8307") else { return }
      _ = try? other.verifyPIN(pin, context: context)
      if let state = try? other.state(of: pin) { failures.withLock { $0.append(state.failures) } }
    }
    #expect(throws: VaultError.self) { try rig.core.verifyPIN(pin, context: rig.context("8307")) }
    expect(failures.withLock { $0 }, equals: [2])
    let state = try rig.core.state(of: pin)
    #expect(state.failures >= 2)
    expect(state.attemptsUnderWay, equals: 0)
  }

  @Test("a right PIN is no wrong attempt where something else fails")
  func otherFailure() throws {
    let rig = try PINRig()
    let pin = try rig.checked()
    let id = try rig.credential(behind: pin)
    for _ in 0..<3 {
      try rig.core.writing { transaction throws(VaultError) in
        try transaction.changeState(of: id) { $0.needsResync = true }
      }
      expect(.outOfStep) { () throws(VaultError) in
        _ = try rig.core.nextHOTPCode(of: id, context: rig.typing("8306"))
      }
    }
    rig.clock.advance(by: .seconds(60))
    let state = try rig.core.state(of: pin)
    #expect((state.failures, state.attemptsUnderWay) == (0, 0))
  }

  /// Verified to fail when the error tells the limit.
  @Test("a PIN is verified without a code, and tells how many attempts are left", .requirement("B9"))
  func verify() throws {
    let rig = try PINRig()
    let pin = try rig.checked()
    try expect(rig.core.verifyPIN(pin, context: rig.context("8306")).item, equals: pin)
    let error = thrown { () throws(VaultError) in _ = try rig.core.verifyPIN(pin, context: rig.typing("1357"))
    }
    expect(error?.code, equals: .authenticationFailed)
    expect(error?.attemptsLeft, equals: 9)
  }

  @Test("the secret behind a PIN opens only with what the PIN gives")
  func form() throws {
    let rig = try PINRig()
    let id = try rig.credential(behind: rig.checked())
    for component in [
      Component.otp, Component(.otp, pin: .camouflaged),
      Component(.otp, pin: .checked(SharedSecret(SecretBytes(copying: [UInt8](repeating: 1, count: 32))))),
    ] {
      #expect(throws: VaultError.self) {
        _ = try rig.core.secret(of: id, by: component, context: AuthenticationContext(reason: ""))
      }
    }
    expect(.policy) { () throws(VaultError) in _ = try rig.core.secret(of: id) }
  }

  @Test("a TOTP code, a verifier and a constraint stand behind a PIN as well")
  func otherCredentials() throws {
    let rig = try PINRig(passcode: "correct horse")
    let pin = try rig.checked()
    let timed = try rig.core.addOTP(
      rig.uri(PINRig.rawKey, kind: .totp(periodSeconds: 30)), named: "timed", pin: pin,
      context: rig.context("8306")
    ).item.id
    try expect(rig.core.timedCode(of: timed, context: rig.context("8306")).code.utf8.count, equals: 6)
    #expect(throws: VaultError.self) { try rig.core.timedCode(of: timed, context: rig.context("8307")) }
    let verifier = try rig.core.addOTP(
      rig.uri(PINRig.rawKey), named: "server", role: .verifier, pin: pin, context: rig.context("8306")
    ).item.id
    _ = try rig.core.verifyOTP(of: verifier, code: rig.code(at: 0), context: rig.context("8306"))
    let access = try AccessControl(.devicePasscode)
    let both = try rig.core.addOTP(
      rig.uri(PINRig.rawKey), named: "both", access: access, pin: pin, context: rig.context("8306")
    ).item.id
    expect(.interactionNotAllowed) { () throws(VaultError) in
      _ = try rig.core.nextHOTPCode(of: both, context: rig.typing("8306"))
    }
    let context = try rig.context("8306", passcode: "correct horse")
    try expect(rig.core.nextHOTPCode(of: both, context: context).code, equals: rig.code(at: 0))
    try expect(rig.core.pinStatuses(of: pin).first?.attemptsLeft, equals: 10)
  }

  @Test("counters are not reserved behind a PIN")
  func reserve() throws {
    let rig = try PINRig()
    let id = try rig.credential(behind: rig.checked())
    expect(.policy) { () throws(VaultError) in
      _ = try rig.core.reserveHOTPCodes(2, of: id, lookAhead: 10, context: rig.typing("8306"))
    }
  }
}

extension PINRig {
  /// As ``context(_:new:passcode:)``, for PINs that a test knows to have the right form.
  func typing(_ pin: String) -> AuthenticationContext {
    guard let context = try? context(pin) else { preconditionFailure("PINRig.typing: no PIN") }
    return context
  }
}
