extension VaultLog {
  /// What a line is about.
  @nonexhaustive
  public enum Tag: String, CaseIterable, Sendable {
    /// The vault file: opening, commits, maintenance.
    case vaultStorage = "VAULT_STORAGE"
    /// Who may open what: unlocking, verifications, denials.
    case vaultAccess = "VAULT_ACCESS"
    /// Activations, synchronizations, transactions, consents and card tokens.
    case authFlow = "AUTH_FLOW"
    /// Requests to servers and their answers.
    case authHTTP = "AUTH_HTTP"
    /// Registrations, token sets, proofs of possession and assertions of clients.
    case authOAuth = "AUTH_OAUTH"
    /// Keys, signatures and signed tokens.
    case authCrypto = "AUTH_CRYPTO"

    /// The tags of a comma list, in which each word is a tag or the beginning of tags: `AUTH,VAULT_ACCESS`.
    ///
    /// - Returns: `nil` if a word is empty or begins no tag.
    public static func named(_ list: String) -> Set<Tag>? {
      var found: Set<Tag> = []
      for word in list.split(separator: ",", omittingEmptySubsequences: false) {
        let tags = allCases.filter { !word.isEmpty && $0.rawValue.hasPrefix(word) }
        guard !tags.isEmpty else { return nil }
        found.formUnion(tags)
      }
      return found
    }

    /// The position of the tag in the word of ``LogSwitch``.
    var index: UInt32 {
      switch self {
      case .vaultStorage: 0
      case .vaultAccess: 1
      case .authFlow: 2
      case .authHTTP: 3
      case .authOAuth: 4
      case .authCrypto: 5
      }
    }
  }

  /// How important a line is.
  @nonexhaustive
  public enum Level: String, CaseIterable, Comparable, Sendable {
    /// What failed.
    case error = "ERROR"
    /// What was refused, or what needs attention.
    case warning = "WARNING"
    /// What was done.
    case info = "INFO"
    /// The steps on the way.
    case debug = "DEBUG"

    /// 0 for the most important level.
    var index: UInt32 {
      switch self {
      case .error: 0
      case .warning: 1
      case .info: 2
      case .debug: 3
      }
    }

    /// Whether the first level is more important.
    public static func < (left: Level, right: Level) -> Bool { left.index < right.index }
  }
}
