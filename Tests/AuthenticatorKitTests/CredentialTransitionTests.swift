import AuthenticatorKit
import TestSupport
import Testing
import VaultKit

@Suite("Transitions of credentials", .bounded, .requirement("A1", "A8"))
struct CredentialTransitionTests {
  /// The table of `docs/guides/credentials.md`: what follows in each state from each event; `-` is refused.
  static let table = """
    event                none     started  active   blocked        unlockStarted  disabled
    activationStarted    started  started  -        -              -              started
    activated            -        active   -        -              -              -
    activationRefused    -        none     -        -              -              -
    lapsed               -        none     -        -              blocked        -
    rightPIN             none     -        active   -              -              -
    wrongPIN             none     -        active   -              -              -
    lastWrongPIN         blocked  -        blocked  -              -              -
    pinChanged           none     -        active   -              -              -
    unlockStarted        -        -        -        unlockStarted  unlockStarted  -
    unlocked             -        -        -        -              active         -
    wrongUnlockCode      -        -        -        -              unlockStarted  -
    lastWrongUnlockCode  -        -        -        -              blocked        -
    peerBlocks           -        -        blocked  blocked        unlockStarted  -
    peerActivates        -        -        active   active         active         disabled
    peerDisables         -        -        disabled disabled       disabled       disabled
    """

  /// Verified to fail when a blocked credential becomes active by a right PIN, and when a disabled one becomes active by a
  /// synchronization.
  @Test("each event in each state leads where the table says, or is refused")
  func everyState() throws {
    let lines = Self.table.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    let states = lines[0].dropFirst()
    #expect(states.elementsEqual(CredentialState.allCases.map { "\($0)" }))
    expect(lines.dropFirst().map { $0[0] }, equals: CredentialEvent.allCases.map { "\($0)" })
    for (line, event) in zip(lines.dropFirst(), CredentialEvent.allCases) {
      for (expected, state) in zip(line.dropFirst(), CredentialState.allCases) {
        let next = state.after(event).map { "\($0)" } ?? "-"
        expect(next, equals: expected, "\(state), \(event)")
      }
      expect(line.count, equals: 1 + CredentialState.allCases.count)
    }
  }
}
