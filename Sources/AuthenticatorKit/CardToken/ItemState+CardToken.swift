package import VaultKit

/// What a token and a consent keep in their state (section 7).
extension ItemState {
  /// How often a token can still be used.
  package var usesLeft: UInt32 {
    get { bytes.bigEndian(at: Offset.usesLeft) }
    set { bytes.setBigEndian(newValue, at: Offset.usesLeft) }
  }
  /// Whether a consent was asked for again by itself. In the place of ``uses``.
  package var isRenewed: Bool {
    get { uses != 0 }
    set { uses = newValue ? 1 : 0 }
  }
  /// How often the code of a consent was sent again.
  package var resends: UInt16 {
    get { bytes.bigEndian(at: Offset.resends) }
    set { bytes.setBigEndian(newValue, at: Offset.resends) }
  }
  /// The boot time at which the code of a consent was last sent again.
  package var lastResend: UInt64 {
    get { bytes.bigEndian(at: Offset.lastResend) }
    set { bytes.setBigEndian(newValue, at: Offset.lastResend) }
  }

  /// - Throws: ``VaultError/Code/unsupported`` for a state that this version does not know.
  package func consentState() throws(VaultError) -> ConsentState { try progress(as: ConsentState.self) }
  package mutating func set(_ state: ConsentState) { progress = state.number }

  private enum Offset {
    static let usesLeft = 72
    static let resends = 114
    static let lastResend = 144
  }
}
