public import VaultKit

extension VaultError {
  /// An error of a peer.
  ///
  /// - Parameters:
  ///   - word: Its word, by the section *Errors* of the guide *Transports*: `CODE`, `STATE`, `TIMEOUT` and so on. A word that
  ///     is not there counts as `OTHER`.
  ///   - message: One line for a person, without a final period. What would not show as itself is replaced by words of
  ///     the library.
  ///   - hint: What to do next.
  ///   - attemptsLeft: How many more wrong codes the peer takes; `nil` if it does not say.
  ///   - isUnsent: Whether the request surely did not reach the peer; only with `NETWORK` and `OTHER`. Then the code of an
  ///     unlock does not count as a try. A lost answer, and one that is cut, are no reason: the peer may have judged the code.
  public init(
    peer word: String, _ message: String, hint: String? = nil, attemptsLeft: Int? = nil,
    isUnsent: Bool = false
  ) {
    let known = Self.peerWords[word]
    self.init(
      known?.code ?? .peerFailed,
      Self.shown(message) ?? known?.words ?? "the server refused it",
      hint: hint.flatMap(Self.shown).map { Hint($0, tool: "the server says: \($0)") },
      attemptsLeft: attemptsLeft,
      underlying: word == "SYNCHROFAILED" ? Self.synchronizationFailed : isUnsent ? Self.unsent : nil)
  }

  /// Whether a peer did what it was asked for, and only the synchronization afterwards failed.
  var isSynchronizationFailure: Bool {
    code == .outOfStep && underlying == Self.synchronizationFailed
  }

  /// Whether a request surely did not reach a peer: it says so itself, or the system has a number for why its program did not start.
  var isUnsent: Bool { (code == .network || code == .peerFailed) && underlying != nil }

  /// The numbers of authenticator systems for what the code does not tell from other errors.
  private static let (unsent, synchronizationFailed): (Int32, Int32) = (1, 13)

  /// An answer that is none. The server has answered, so it may have done what it was asked for, once: no program is to send the same
  /// again.
  static func peerAnswered(_ flaw: String) -> VaultError {
    VaultError(
      .network, "the server's answer is malformed: \(flaw)",
      hint: "nothing from the answer was stored; tell whoever runs the server or its transport"
    ).final()
  }

  /// A text of the peer, if it is visible and not too long.
  private static func shown(_ text: String) -> String? {
    guard (1...512).contains(text.utf8.count), VisibleText.flaw(in: text) == nil else { return nil }
    return text
  }

  private static let peerWords: [String: (code: Code, words: String)] = [
    "NETWORK": (.network, "the server cannot be reached"),
    "CODE": (.authenticationFailed, "the server refused the code"),
    "SN": (.malformed, "the server does not know this form of a code"),
    "ACCESS": (.policy, "the server does not allow this device to do that"),
    "VERSION": (.unsupported, "the server does not support this version"),
    "BLOCKED": (.blocked, "the server has blocked the credential"),
    "STATE": (.wrongState, "the server does not allow it in this state"),
    "NODEVICE": (.deviceUnknown, "the server does not know this device"),
    "PINREUSED": (.pinReused, "the server knows this PIN as an old one"),
    "SYNCHROFAILED": (.outOfStep, "the synchronization failed"),
    "FORBIDDEN": (.policy, "a rule of the server refuses it"),
    "PINREFUSED": (.pinRefused, "the server refuses this PIN"),
    "TIMEOUT": (.expired, "the server no longer waits for it"),
    "BIOKEY": (.biokeyLocked, "the biokey is locked by failures"),
    "DESYNCHRONIZED": (.outOfStep, "the credential must be synchronized first"),
    "OTHER": (.peerFailed, "the server refused it"),
  ]
}
