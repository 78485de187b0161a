import Foundation
import OneTimePassword
import TestSupport
import Testing
import VaultKit

/// Verified to fail when `.network` is retryable at any time.
@Suite("The way out of every error", .bounded, .requirement("D9"))
struct RecoveryTests {
  /// What a code says; `nil`: a person does what the hint says.
  private static let ofVault: [VaultError.Code: Recovery?] = [
    .itemNotFound: .startOver, .invalidated: nil, .duplicateItem: .startOver,
    .locked: .retryable(.whenUnlocked),
    .authenticationFailed: .startOver, .alreadyUsed: .startOver, .lockedOut: .retryable(.after(.zero)),
    .passcodeDelay: .retryable(.after(.zero)), .biometryLocked: .retryable(.whenUnlocked), .blocked: nil,
    .biokeyLocked: .startOver, .pinRefused: .startOver, .pinReused: .startOver, .cancelled: .startOver,
    .appCancelled: .startOver, .timedOut: .retryable(.whenSomebodyIsThere),
    .interactionNotAllowed: .retryable(.whenSomebodyIsThere),
    .verificationNeeded: .retryable(.whenSomebodyIsThere),
    .verificationUnavailable: nil, .expired: .startOver, .policy: .startOver, .damaged: nil,
    .deviceKeyAbsent: nil,
    .deviceKeyLocked: .retryable(.whenUnlocked), .deviceKeyUnavailable: nil, .deviceKeyWrong: nil,
    .deviceKeyDamaged: nil, .malformed: .startOver, .io: nil, .unconfirmed: nil, .readOnly: nil,
    .busy: .retryable(.after(.zero)), .vaultMissing: nil, .vaultExists: nil, .fileExists: nil,
    .sideFile: .startOver,
    .newerFormat: nil,
    .olderFormat: nil, .unsupported: nil, .outOfStep: .retryable(.whenSynchronized), .wrongState: .startOver,
    .network: .retryable(.whenOnline), .deviceUnknown: nil, .peerFailed: nil,
  ]

  private static let ofPasswords: [OTPError: Recovery?] = [
    .emptyKey: .startOver, .secretTooShort(bitCount: 8): .startOver, .secretTooLong: .startOver,
    .invalidBase32(position: 0): .startOver, .unknownAlgorithm: .startOver, .invalidDigits: .startOver,
    .invalidPeriod: .startOver, .invalidCounter: .startOver, .counterExhausted: nil, .timeOutOfRange: nil,
    .invalidCode: .startOver, .invalidWindow: .startOver, .invalidReservation: .startOver,
    .invalidURI(.fragment): .startOver,
    .invalidSuite(.digits, position: 3): .startOver, .missingInput(.question): .startOver,
    .unexpectedInput(.session): .startOver, .invalidInput(.pinHash): .startOver, .invalidData: .startOver,
  ]

  @Test("the tables have every code of the sources, and no other")
  func complete() throws {
    try expect(
      codes(of: "Sources/VaultFormat/Errors/VaultError.swift"), equals: Set(Self.ofVault.keys.map(\.rawValue))
    )
    try expect(
      codes(of: "Sources/OneTimePassword/OTPError.swift"),
      equals: Set(Self.ofPasswords.keys.map(\.code.rawValue)))
  }

  @Test("every code of a vault has a reason and a way out", arguments: ofVault.keys.map(\.rawValue).sorted())
  func vault(word: String) throws {
    let code = VaultError.Code(rawValue: word)
    let error = VaultError(code, "the reason", hint: "what to do", underlying: 28)
    try check(error, try #require(Self.ofVault[code]), action: "what to do")
    #expect(error.message == "the reason" && error.cause == "error 28 of the system or of a library")
    #expect(VaultError(code, "the reason").cause == nil)
    // Without a hint, the message says what there is to say.
    if case .nonRecoverable(action: let action) = VaultError(code, "the reason").recovery {
      expect(action, equals: "the reason")
    }
  }

  @Test("every code of one-time passwords has a reason and a way out")
  func passwords() throws {
    for (error, expected) in Self.ofPasswords {
      try check(error, expected, action: nil)
      #expect(!error.message.isEmpty && error.message != error.code.rawValue)
      #expect((error.cause == nil) == (error.fault == nil && error.part == nil))
    }
  }

  @Test("a time that is known is the condition")
  func times() {
    for code in [VaultError.Code.lockedOut, .passcodeDelay, .busy, .policy, .network] {
      let error = VaultError(code, "later", retryAfter: .seconds(9))
      expect(error.recovery, equals: .retryable(.after(.seconds(9))), "\(code)")
    }
    // A wrong code is not right later.
    expect(VaultError(.authenticationFailed, "wrong", retryAfter: .seconds(9)).recovery, equals: .startOver)
  }

  @Test("the code of another program needs a person")
  func unknown() {
    let error = VaultError(VaultError.Code(rawValue: "ofAnotherProgram"), "no")
    expect(error.recovery, equals: .nonRecoverable(action: "no"))
  }

  @Test("the words of JSON")
  func words() {
    let conditions: [RetryCondition] = [
      .after(.zero), .whenUnlocked, .whenOnline, .whenSynchronized, .whenSomebodyIsThere,
    ]
    expect(
      conditions.map(\.word),
      equals: [
        "after", "whenUnlocked", "whenOnline", "whenSynchronized", "whenSomebodyIsThere",
      ])
    let all: [Recovery] = [.retryable(.whenOnline), .startOver, .nonRecoverable(action: "a")]
    expect(all.map(\.word), equals: ["retryable", "startOver", "nonRecoverable"])
    expect(all.map(\.condition), equals: [.whenOnline, nil, nil])
  }

  private func check(_ error: some RecoverableFailure, _ expected: Recovery?, action: String?) throws {
    if let expected { return expect(error.recovery, equals: expected, "\(error.code)") }
    guard case .nonRecoverable(action: let said) = error.recovery else {
      Issue.record("\(error.code): \(error.recovery)")
      return
    }
    #expect(action == nil ? !said.isEmpty : said == action, "\(error.code)")
  }

  private func codes(of path: String) throws -> Set<String> {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let text = try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    return Set(text.matches(of: /static let \w+ = Code\(rawValue: "(\w+)"\)/).map { String($0.1) })
  }
}
