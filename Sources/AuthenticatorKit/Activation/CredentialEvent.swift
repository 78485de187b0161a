import VaultKit

/// What happens to a credential.
package enum CredentialEvent: CaseIterable {
  /// The peer has accepted the first code of an activation.
  case activationStarted
  /// The peer has accepted the second code.
  case activated
  /// The peer has refused the second code.
  case activationRefused
  /// The deadline of an activation or of an unlock has passed.
  case lapsed
  case rightPIN
  case wrongPIN
  /// The limit of wrong PINs is reached.
  case lastWrongPIN
  case pinChanged
  /// The peer has begun an unlock.
  case unlockStarted
  /// The peer has accepted the code of an unlock.
  case unlocked
  case wrongUnlockCode
  /// The limit of wrong codes of an unlock is reached.
  case lastWrongUnlockCode
  case peerBlocks
  /// The peer says that the credential is active.
  case peerActivates
  case peerDisables
}

/// The transitions of a credential. The page of the format has the states, `docs/guides/credentials.md` the table for people.
///
/// What the peer says of a stored credential, and the end of a deadline, change its state by this table alone. Items begin in the
/// state that the table gives: an activation is made as `started`, a credential as `active`. The events of a PIN change its PIN
/// item, whose block counts for all that is behind it.
extension CredentialState {
  /// The state after an event; `nil` if the event is refused in this state.
  ///
  /// `none` is also the state of a name without an item, and of a credential without an activation.
  package func after(_ event: CredentialEvent) -> CredentialState? { Self.transitions[self]?[event] }

  private static let transitions: [CredentialState: [CredentialEvent: CredentialState]] = [
    .none: [
      .activationStarted: .started, .rightPIN: .none, .wrongPIN: .none, .lastWrongPIN: .blocked,
      .pinChanged: .none,
    ],
    .started: [
      .activationStarted: .started, .activated: .active, .activationRefused: .none, .lapsed: .none,
    ],
    .active: [
      .rightPIN: .active, .wrongPIN: .active, .lastWrongPIN: .blocked, .pinChanged: .active,
      .peerActivates: .active, .peerBlocks: .blocked, .peerDisables: .disabled,
    ],
    .blocked: [
      .unlockStarted: .unlockStarted, .peerActivates: .active, .peerBlocks: .blocked,
      .peerDisables: .disabled,
    ],
    .unlockStarted: [
      .unlockStarted: .unlockStarted, .unlocked: .active, .wrongUnlockCode: .unlockStarted,
      .lastWrongUnlockCode: .blocked, .lapsed: .blocked, .peerActivates: .active,
      .peerBlocks: .unlockStarted, .peerDisables: .disabled,
    ],
    .disabled: [.activationStarted: .started, .peerActivates: .disabled, .peerDisables: .disabled],
  ]
}
