import Foundation
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultPrompts
import VaultTestKit

/// The column of the constraint table that a scripted reader cannot stand for: the real fprintd, one enrolled finger, and
/// scans of it and of another one. The other columns are in `Tests/VaultKitTests/ConstraintsTests.swift`.
@Suite("Constraints with the real fprintd", .bounded, .serialized)
struct FprintdConstraintTests {
  /// Verified to fail when a finger that is not enrolled counts as a match, when `or` makes one alternative of both
  /// constraints, when the gate opens `any` by the passcode, and when the finger is left out beside a given passcode.
  @Test("what the document allows opens by a real scan of the enrolled finger, and by no scan of another")
  func table() throws {
    let rig = try FprintRig(.fprintd)
    try rig.enroll("A")
    let reader = RigReader(rig)
    let place = TemporaryVault(environment: .testing())
    let core = try place.makeCore(passcode: "passcode")
    let enrolled = try core.enrollFingers(of: reader, passcode: Passcode(testing: "passcode"))
    expect(enrolled.map(\.name), equals: ["right-index-finger"])
    var allowed = 0
    for number in 0..<128 {
      let constraints = ConstraintTable.combination(number)
      guard ConstraintTable.isLegal(constraints) else {
        #expect(throws: VaultError.self) { _ = try AccessControl(constraints) }
        continue
      }
      allowed += 1
      let id = try core.add(
        NewItem(.genericPassword, name: "\(number)", access: AccessControl(constraints)),
        secret: SecretBytes(testing: "s\(number)"), context: Shown.password.context(nil)
      ).id
      try check(number, id, core, reader)
    }
    expect(allowed, equals: 22)
    // Every rule with biometry or presence was scanned for, and each without a password with the other finger too: presence
    // once, biometry alone with and without the passcode, beside it bare, by `and` and by `or`: 1 + 2 · (2 + 3).
    expect(reader.scans.filter { $0 == Self.right }.count, equals: 2 * 11)
    expect(reader.scans.filter { $0 == Self.wrong }.count, equals: 11)
    try expect(core.verify().problems, equals: [])
  }

  private typealias Shown = ConstraintTable.Shown
  private static let right = "A"
  private static let wrong = "Z"

  private func check(_ number: Int, _ id: ItemID, _ core: VaultCore, _ reader: RigReader) throws {
    let constraints = ConstraintTable.combination(number)
    let asksPassword = constraints.contains(.applicationPassword)
    let others: [Shown] =
      asksPassword ? [.password, [.password, .passcode], .passcode] : [[], .passcode]
    for other in others {
      // A scan takes its time: the password's part in a rule is shown by the right finger alone, and by none.
      let fingers: [String?] =
        asksPassword
        ? (other.contains(.password) ? [Self.right, nil] : [nil]) : [Self.wrong, Self.right, nil]
      for finger in fingers {
        let shown = finger == Self.right ? other.union(.member) : other
        let before = reader.scans.count
        reader.next(finger)
        let code = try failure(of: id, other.context(finger == nil ? nil : reader), core, "s\(number)")
        let isRight = shown.opens(constraints)
        #expect(
          (code == nil) == isRight, "\(number), \(other) and finger \(finger ?? "none"): \(code as Any)")
        let wasScanned = reader.scans.count > before
        if wasScanned, finger == Self.wrong, !isRight {
          expect(code, equals: .authenticationFailed, "\(number): \(code as Any)")
        }
      }
    }
  }

  private func failure(
    of id: ItemID, _ context: AuthenticationContext, _ core: VaultCore, _ secret: String
  ) throws -> VaultError.Code? {
    do throws(VaultError) {
      let opened = try core.secret(of: id, context: context)
      expect(opened.bytesForTesting, equals: Array(secret.utf8))
      return nil
    } catch { return error.code }
  }
}

extension ConstraintTable.Shown {
  /// A context that was given passcode and password in advance; the member, if any, shows himself to the reader.
  fileprivate func context(_ reader: RigReader?) throws -> AuthenticationContext {
    let context = AuthenticationContext(reason: "a test", biometry: reader)
    if contains(.passcode) { context.provide(try Passcode(testing: "passcode")) }
    if contains(.password) { context.provide(try ApplicationPassword(testing: "password")) }
    return context
  }
}

/// `FprintdSource` against the rig's fprintd, as a process of its own: the address of the bus is a variable of a process.
/// Whenever it waits for a finger, the one that was named last is put on the reader.
private final class RigReader: BiometrySource {
  private let state = Mutex<(next: String?, scans: [String])>((nil, []))
  private let rig: FprintRig

  init(_ rig: FprintRig) { self.rig = rig }

  /// The fingers that were put on the reader so far.
  var scans: [String] { state.withLock { $0.scans } }

  /// The finger of the next scan; with nil nobody comes, and a question for a finger fails the test.
  func next(_ finger: String?) { state.withLock { $0.next = finger } }

  func enrolledFingers() throws(VaultError) -> [String] {
    let line = try attempt("list") { _ in }
    guard line.hasPrefix("enrolled: ") else { throw VaultError.scripted(.verificationUnavailable) }
    return line.dropFirst("enrolled: ".count).split(separator: " ").map(String.init)
  }

  func verify(_ request: PromptRequest, showing progress: (String) -> Void) throws(VaultError) -> String? {
    guard let finger = state.withLock({ $0.next }) else {
      Issue.record("a finger was asked for where there is none")
      throw VaultError.scripted(.cancelled)
    }
    let line = try attempt("30") { attempt in
      try attempt.wait(for: "put your finger")
      try rig.reader("SCAN \(finger)")
      state.withLock { $0.scans.append(finger) }
    }
    if line.hasPrefix("verified: ") { return String(line.dropFirst("verified: ".count)) }
    throw VaultError.scripted(
      line.hasPrefix("authenticationFailed: ") ? .authenticationFailed : .verificationUnavailable)
  }

  private func attempt(
    _ word: String, _ meanwhile: (FprintRig.Attempt) throws -> Void
  ) throws(VaultError) -> String {
    do {
      let attempt = try rig.attempt(word)
      try meanwhile(attempt)
      return try attempt.end().last
    } catch {
      Issue.record("the reader: \(error)")
      throw VaultError.scripted(.verificationUnavailable)
    }
  }
}
