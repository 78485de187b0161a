import VaultStorage

/// What the components of an authenticator keep in the state of their items (section 7). Times of the boot clock are
/// in milliseconds.
extension ItemState {
  private typealias Offset = FieldOffset.ItemState

  // MARK: PINs and biokeys

  /// Attempts of a PIN that are counted and have no written verdict.
  package var attemptsUnderWay: UInt32 {
    get { bytes.bigEndian(at: Offset.underWay) }
    set { bytes.setBigEndian(newValue, at: Offset.underWay) }
  }
  /// The offset of a camouflaged PIN: six digits, each 0–9.
  package var pinOffset: [UInt8] {
    get { Array(bytes[Offset.offset..<Offset.offset + 6]) }
    set { set(newValue, at: Offset.offset, count: 6) }
  }
  /// The offset after a change that the server has not confirmed; `nil` where there is none.
  package var pendingPINOffset: [UInt8]? {
    get { hasPendingOffset ? Array(bytes[Offset.pendingOffset..<Offset.pendingOffset + 6]) : nil }
    set {
      hasPendingOffset = newValue != nil
      set(newValue ?? [], at: Offset.pendingOffset, count: 6)
    }
  }

  // MARK: Tokens and consents

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

  // MARK: Activation and synchronization

  /// - Throws: ``VaultError/Code/unsupported`` for a state that this version does not know.
  package func credentialState() throws(VaultError) -> CredentialState {
    try known(CredentialState(number: progress))
  }
  /// - Throws: ``VaultError/Code/unsupported`` for a state that this version does not know.
  package func consentState() throws(VaultError) -> ConsentState {
    try known(ConsentState(number: progress))
  }
  package mutating func set(_ state: CredentialState) { progress = state.number }
  package mutating func set(_ state: ConsentState) { progress = state.number }

  /// Wrong codes for an unlock.
  package var wrongUnlockCodes: UInt8 {
    get { bytes[Offset.wrongUnlockCodes] }
    set { bytes[Offset.wrongUnlockCodes] = newValue }
  }
  /// How often the code of a consent was sent again.
  package var resends: UInt16 {
    get { bytes.bigEndian(at: Offset.resends) }
    set { bytes.setBigEndian(newValue, at: Offset.resends) }
  }
  /// When the present state ends; `nil` if it lasts.
  package var deadline: Deadline? {
    get {
      let milliseconds: UInt64 = bytes.bigEndian(at: Offset.deadline)
      guard milliseconds > 0 else { return nil }
      return Deadline(
        milliseconds: milliseconds,
        boot: Bytes16(
          high: bytes.bigEndian(at: Offset.deadlineBoot), low: bytes.bigEndian(at: Offset.deadlineBoot + 8)))
    }
    set {
      bytes.setBigEndian(newValue?.milliseconds ?? 0, at: Offset.deadline)
      set(newValue?.boot.bytes ?? [], at: Offset.deadlineBoot, count: 16)
    }
  }
  /// The wall time of the last synchronization with the server; zero when there was none.
  package var lastSynchronization: Instant {
    get { Instant(milliseconds: Int64(bitPattern: bytes.bigEndian(at: Offset.lastSync))) }
    set { bytes.setBigEndian(UInt64(bitPattern: newValue.milliseconds), at: Offset.lastSync) }
  }
  /// The boot time at which the code of a consent was last sent again. In the place of ``lastSynchronization``.
  package var lastResend: UInt64 {
    get { bytes.bigEndian(at: Offset.lastSync) }
    set { bytes.setBigEndian(newValue, at: Offset.lastSync) }
  }
  /// The number of codes since the last synchronization.
  package var codesSinceSynchronization: UInt32 {
    get { bytes.bigEndian(at: Offset.codesSinceSync) }
    set { bytes.setBigEndian(newValue, at: Offset.codesSinceSync) }
  }
  /// What a prover adds to its wall clock, in seconds.
  package var secondsOffset: Int32 {
    get { Int32(bitPattern: bytes.bigEndian(at: Offset.secondsOffset)) }
    set { bytes.setBigEndian(UInt32(bitPattern: newValue), at: Offset.secondsOffset) }
  }

  /// Keeps what a newer state of the same item must not lose when an older one is restored.
  package mutating func keepProgress(of newer: ItemState, kind: ItemKind) {
    counter = max(counter, newer.counter)
    failures = max(failures, newer.failures)
    uses = max(uses, newer.uses)
    lastAccepted = [lastAccepted, newer.lastAccepted].compactMap { $0 }.max()
    isBlocked = isBlocked || newer.isBlocked
    guard !kind.isOfPrograms else { return }
    attemptsUnderWay = max(attemptsUnderWay, newer.attemptsUnderWay)
    wrongUnlockCodes = max(wrongUnlockCodes, newer.wrongUnlockCodes)
    guard kind == .otp else { return }
    codesSinceSynchronization = max(codesSinceSynchronization, newer.codesSinceSynchronization)
    switch CredentialState(number: newer.progress) {
    case .disabled: set(CredentialState.disabled)
    // The unlock may be over at the peer. The block is not.
    case .blocked, .unlockStarted: set(CredentialState.blocked)
    default: break
    }
  }

  private var progress: UInt8 {
    get { bytes[Offset.progress] }
    set { bytes[Offset.progress] = newValue }
  }

  private func known<State>(_ state: State?) throws(VaultError) -> State {
    guard let state else {
      throw VaultError(
        .unsupported, "the item is in a state that this version does not know", hint: .useNewerVersion)
    }
    return state
  }

  private mutating func set(_ values: [UInt8], at offset: Int, count: Int) {
    let padded = (values + [UInt8](repeating: 0, count: count)).prefix(count)
    bytes.replaceSubrange(offset..<offset + count, with: padded)
  }
}
