/// Who shows the prompts of the commands that run in an agent: a setting of the agent, which no command changes
/// (docs/decisions/0050).
package enum AgentAsking: Sendable, Equatable {
  /// The process of the command.
  case client
  /// The terminal from which the vault was unlocked; while it is locked, the process of the command.
  case unlocker
  /// The terminal with this absolute path.
  case terminal(String)
  /// A pinentry that the agent starts.
  case pinentry
  /// The process of the command, but a yes is the finger of the person. For a keeper alone, whose reader no program of the person has.
  case finger

  /// The option value of `--ask`.
  package enum Word: String, Sendable {
    case client, unlocker, terminal, pinentry, finger
  }

  package var word: Word {
    switch self {
    case .client: .client
    case .unlocker: .unlocker
    case .terminal: .terminal
    case .pinentry: .pinentry
    case .finger: .finger
    }
  }

  /// Whether a keeper can be set to it: the others are programs and terminals of the person (docs/decisions/0052).
  package var isForKeeper: Bool { [.client, .terminal, .finger].contains(word) }
  /// Whether an agent of the person can.
  package var isForAgent: Bool { self != .finger }

  /// Whether a yes is that of a person, against the programs of the person, where a keeper asks like this.
  package var enforcesYes: Bool { self != .client }

  /// The path of ``terminal(_:)``.
  package var terminal: String? { if case .terminal(let path) = self { path } else { nil } }

  /// - Returns: nil for a terminal that is missing, not wanted, or has no absolute path.
  package init?(_ word: Word, terminal: String?) {
    switch (word, terminal) {
    case (.client, nil): self = .client
    case (.unlocker, nil): self = .unlocker
    case (.pinentry, nil): self = .pinentry
    case (.finger, nil): self = .finger
    case (.terminal, let path?) where path.hasPrefix("/"): self = .terminal(path)
    default: return nil
    }
  }

  /// The same as arguments of the agent's program.
  package var arguments: [String] {
    ["--ask", word.rawValue] + (terminal.map { ["--terminal", $0] } ?? [])
  }

  /// The setting of these arguments: ``client`` for none.
  ///
  /// - Returns: nil for others than ``arguments`` can be.
  package init?(arguments: [String]) {
    guard !arguments.isEmpty else {
      self = .client
      return
    }
    let isComplete = arguments.count == 2 || arguments.count == 4 && arguments[2] == "--terminal"
    guard isComplete, arguments[0] == "--ask", let word = Word(rawValue: arguments[1]) else { return nil }
    self.init(word, terminal: arguments.count == 4 ? arguments[3] : nil)
  }

  /// Where the person is asked, for a person.
  package var description: String {
    switch self {
    case .client: "each command asks by itself"
    case .unlocker: "on the terminal from which the vault was unlocked"
    case .terminal(let path): "on \(path)"
    case .pinentry: "through pinentry, which the agent starts"
    case .finger: "each command asks by itself, and a yes is a finger on the reader"
    }
  }
}
