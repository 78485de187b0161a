import Glibc
public import SecretMemory
import TextPreparation
public import VaultKit

// The front page of VaultPrompts, the module through which a vault asks a person. What a person types is a `TypedSecret`.
// Read next:
//
// - `Terminal/`: `TerminalPrompt` asks; `TerminalTurn` holds the terminal's lock and mode for one prompt.
// - `Pinentry/`: `PinentryPrompt` asks through the program that `Pinentry` finds.
// - `PAM/`: `PAMPresence` asks the system whether its user is there, through the helper program `vault-pam`.
// - `Fingerprint/`: `FprintdSource` asks for a finger, through fprintd.
// - `Waiting/`: `PromptSignals` and `Deadline` end every wait; `PromptText` is what all prompts show.

/// The one road to a person: the terminal asks, else pinentry asks, else no question is asked.
///
/// 1. The terminal asks where there is one, this process is in its foreground, and no other program reads from it.
/// 2. Where one of these three conditions fails, pinentry asks, if it has a display or a terminal.
/// 3. Where pinentry cannot ask either, the error says so at once: `.interactionNotAllowed`.
/// 4. Every other end is final: an answer, a refusal, a timeout, a signal, a terminal that cannot be locked.
public struct AutomaticPrompt: Prompt, EndsWithRequest {
  private let terminalPath: String
  private let way: Way
  private let variable: @Sendable (String) -> String?
  private let patience: Patience
  private let cuts: CutQuestions?
  private let open = OpenPrompt()

  /// Which parts of the road are taken. The raw values are the option values of `--prompt`.
  package enum Way: String, Sendable {
    /// The terminal, else pinentry.
    case automatic = "auto"
    case terminal
    /// Pinentry alone, which may use the terminal in its own way.
    case pinentry
  }

  /// - Parameters:
  ///   - terminalPath: `/dev/tty` is the terminal that controls this process.
  ///   - patience: How long a person may take for one answer; then `.cancelled`.
  public init(terminalPath: String = "/dev/tty", patience: Duration = .seconds(300)) {
    self.init(terminalPath: terminalPath, patience: patience) { processVariable($0) }
  }

  /// - Parameters:
  ///   - cuts: Those of the terminal, if programs that do not trust each other are asked about there.
  ///   - variable: Looks up an environment variable.
  package init(
    terminalPath: String, way: Way = .automatic, patience: Duration = .seconds(300),
    cuts: CutQuestions? = nil, variable: @escaping @Sendable (String) -> String?
  ) {
    self.terminalPath = terminalPath
    self.way = way
    self.patience = Patience(patience)
    self.cuts = cuts
    self.variable = variable
  }

  /// Asks for a secret.
  ///
  /// - Throws: The error of the prompt that asked; `.interactionNotAllowed` at once, with the reason, where no
  ///   prompt can ask.
  public func readSecret(_ request: PromptRequest) throws(VaultError) -> SecretBytes {
    do throws(PromptFailure) { return try type(request) } catch { throw VaultError(failure: error) }
  }

  /// Asks for a yes or a no.
  ///
  /// - Throws: As ``readSecret(_:)``.
  public func confirm(_ request: PromptRequest) throws(VaultError) -> Bool {
    do throws(PromptFailure) {
      return try ask(
        onTerminal: { prompt throws(TerminalError) in try prompt.agree(request) },
        throughPinentry: { prompt throws(VaultError) in try prompt.confirm(request) })
    } catch { throw VaultError(failure: error) }
  }

  /// Asks on the terminal for how long a program may use an item. Pinentry has no such question: it allows the use that it was asked
  /// about.
  ///
  /// - Throws: As ``readSecret(_:)``.
  package func allow(_ request: PromptRequest) throws(VaultError) -> GrantAnswer {
    guard way != .pinentry else { return .once }
    do throws(TerminalError) { return try terminal.allow(request) } catch {
      guard way == .automatic, error.letsPinentryAsk else { throw VaultError(prompt: error) }
      return .once
    }
  }

  /// Asks for a secret, and says which prompt failed in which way.
  ///
  /// - Parameters:
  ///   - limit: The most bytes that may be typed on the terminal, up to ``Terminal/longestLine``. Pinentry takes
  ///     at most ``TypedSecret/longest`` bytes.
  ///   - isRepeated: The person types the same secret again: the terminal shows the question alone.
  package func type(
    _ request: PromptRequest, limit: Int = TypedSecret.longest, isRepeated: Bool = false
  ) throws(PromptFailure) -> SecretBytes {
    try ask(
      onTerminal: { prompt throws(TerminalError) in
        try prompt.type(request, limit: limit, isRepeated: isRepeated)
      },
      throughPinentry: { prompt throws(VaultError) in try prompt.readSecret(request) })
  }

  /// Shows a line on the terminal, where there is one.
  public func show(_ line: String, for request: PromptRequest) { terminal.show(line, for: request) }

  /// Ends an open prompt, from any thread.
  public func cancel() { open.cancel() }

  /// The pinentry that would ask now; nil when the terminal would.
  ///
  /// - Throws: Why neither can ask.
  package func findPinentryIfNeeded() throws(Pinentry.Absence) -> Pinentry? {
    if way != .pinentry, Terminal.obstacle(at: terminalPath) == nil { return nil }
    return try Pinentry.find(terminalPath: terminalPath, variable)
  }
}

extension AutomaticPrompt {
  private func ask<Answer: ~Copyable>(
    onTerminal: (TerminalPrompt) throws(TerminalError) -> Answer,
    throughPinentry: (PinentryPrompt) throws(VaultError) -> Answer
  ) throws(PromptFailure) -> Answer {
    guard way != .pinentry else { return try ask(throughPinentry, insteadOf: nil) }
    do throws(TerminalError) { return try onTerminal(terminal) } catch {
      guard way == .automatic, error.letsPinentryAsk else { throw .terminal(error) }
      return try ask(throughPinentry, insteadOf: error)
    }
  }

  /// - Parameter obstacle: Why the terminal did not ask, where it was tried first.
  private func ask<Answer: ~Copyable>(
    _ body: (PinentryPrompt) throws(VaultError) -> Answer, insteadOf obstacle: TerminalError?
  ) throws(PromptFailure) -> Answer {
    let found: Pinentry
    do throws(Pinentry.Absence) { found = try Pinentry.find(terminalPath: terminalPath, variable) } catch {
      throw .nobody(terminal: obstacle, pinentry: error)
    }
    do throws(VaultError) { return try body(PinentryPrompt(found, patience: patience, open: open)) } catch {
      throw .pinentry(error)
    }
  }

  private var terminal: TerminalPrompt {
    TerminalPrompt(path: terminalPath, patience: patience, open: open, cuts: cuts)
  }
}
