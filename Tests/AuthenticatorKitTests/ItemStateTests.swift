import AuthenticatorKit
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultStorage

@Suite("States of items", .bounded)
struct ItemStateTests {
  /// Each value at the offset of the page, section 7, with all other bytes zero.
  @Test("each value of a component is at its offset, and no other byte changes")
  func offsets() {
    let boot = [UInt8](1...16)
    check(112, [5]) { $0.set(CredentialState.disabled) }
    check(112, [3]) { $0.set(ConsentState.expired) }
    check(113, [200]) { $0.wrongUnlockCodes = 200 }
    check(114, [1, 2]) { $0.resends = 0x0102 }
    check(116, [1, 2, 3, 4]) { $0.attemptsUnderWay = 0x0102_0304 }
    check(120, [1, 2, 3, 4, 5, 6, 7, 8] + boot) {
      $0.deadline = Deadline(milliseconds: 0x0102_0304_0506_0708, boot: Bytes16(boot))
    }
    check(144, [255, 255, 255, 255, 255, 255, 255, 251]) {
      $0.lastSynchronization = Instant(milliseconds: -5)
    }
    check(144, [0, 0, 0, 0, 0, 0, 1, 0]) { $0.lastResend = 256 }
    check(152, [0, 0, 1, 0]) { $0.codesSinceSynchronization = 256 }
    check(156, [255, 255, 255, 251]) { $0.secondsOffset = -5 }
    check(80, [1, 2, 3, 4, 5, 6]) { $0.pinOffset = [1, 2, 3, 4, 5, 6] }
  }

  private func check(_ offset: Int, _ bytes: [UInt8], _ change: (inout ItemState) -> Void) {
    var state = ItemState()
    change(&state)
    var expected = ItemState().bytes
    expected.replaceSubrange(offset..<offset + bytes.count, with: bytes)
    expect(state.bytes, equals: expected, "offset \(offset)")
  }

  @Test("what was set is read again")
  func roundTrip() throws {
    var state = ItemState()
    state.pendingPINOffset = [9, 8, 7, 6, 5, 4]
    state.deadline = Deadline(milliseconds: 7, boot: Bytes16([UInt8](repeating: 3, count: 16)))
    state.secondsOffset = .min
    state.lastSynchronization = Instant(milliseconds: .max)
    #expect(state.pendingPINOffset == [9, 8, 7, 6, 5, 4] && state.bytes[1] == 8)
    expect(state.deadline, equals: Deadline(milliseconds: 7, boot: Bytes16([UInt8](repeating: 3, count: 16))))
    #expect(state.secondsOffset == .min && state.lastSynchronization == Instant(milliseconds: .max))
    state.deadline = nil
    #expect(state.deadline == nil && state.bytes[120..<144].allSatisfy { $0 == 0 })
    state.pendingPINOffset = nil
    #expect(
      state.pendingPINOffset == nil && state.bytes[1] == 0 && state.bytes[86..<92].allSatisfy { $0 == 0 })
  }

  @Test("the states are numbered as on the page")
  func numbers() throws {
    expect(CredentialState.allCases, equals: [.none, .started, .active, .blocked, .unlockStarted, .disabled])
    expect(ConsentState.allCases, equals: [.requested, .confirmed, .failed, .expired, .revoked])
    for number in UInt8(0)...6 {
      var bytes = ItemState().bytes
      bytes[112] = number
      let state = try ItemState(bytes: bytes)
      #expect((try? state.credentialState())?.number == (number < 6 ? number : nil))
      #expect((try? state.consentState())?.number == (number < 5 ? number : nil))
    }
    var bytes = ItemState().bytes
    bytes[112] = 77
    let state = try ItemState(bytes: bytes)
    expect(.unsupported) { () throws(VaultError) in _ = try state.credentialState() }
  }

  /// Verified to fail when only counters are kept, when an unlock that has begun ends a block, and when codes without a
  /// synchronization count anew.
  @Test("a restore keeps the larger counts of attempts, and that a credential is blocked or disabled")
  func progress() throws {
    var newer = ItemState()
    (newer.attemptsUnderWay, newer.wrongUnlockCodes, newer.failures) = (2, 3, 4)
    newer.codesSinceSynchronization = 5
    for (kind, kept) in [(ItemKind.otp, true), (.pin, false)] {
      for state in CredentialState.allCases {
        newer.set(state)
        var restored = ItemState()
        restored.set(CredentialState.active)
        restored.keepProgress(of: newer, kind: kind)
        #expect(restored.attemptsUnderWay == 2 && restored.wrongUnlockCodes == 3 && restored.failures == 4)
        let expected: CredentialState =
          switch state {
          case .blocked, .unlockStarted: .blocked
          case .disabled: .disabled
          default: .active
          }
        #expect(try restored.credentialState() == (kept ? expected : .active))
        #expect(restored.codesSinceSynchronization == (kept ? 5 : 0))
      }
    }
    checkUnknown()
    var own = ItemState()
    own.keepProgress(of: newer, kind: ItemKind(rawValue: 0x8000))
    #expect(own.failures == 4 && own.attemptsUnderWay == 0)
  }

  /// What a program without the component keeps, whichever of the two states is newer. Verified to fail when it keeps nothing, when
  /// it takes what is newer, and when a state has the deadline of the other.
  private func checkUnknown() {
    for (restored, newer) in (0..<36).map({ (UInt8($0 / 6), UInt8($0 % 6)) }) {
      var (state, other) = (ItemState(), ItemState())
      (state.progress, state.codesSinceSynchronization) = (restored, UInt32(restored))
      (other.progress, other.codesSinceSynchronization) = (newer, UInt32(newer))
      let boot = Bytes16([UInt8](repeating: 3, count: 16))
      other.deadline = Deadline(milliseconds: 7, boot: boot)
      state.keepProgress(of: other, kind: ItemKind(rawValue: 26))
      let greater = max(restored, newer)
      #expect(state.progress == greater && state.codesSinceSynchronization == UInt32(greater))
      #expect((state.deadline != nil) == (newer > restored))
    }
  }
}
