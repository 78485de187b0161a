public import SecretMemory
public import VaultKit

/// Asks on the terminal where there is one and the process is in its foreground, else through pinentry where it has a
/// display or a terminal, else not at all.
public struct AutomaticPrompt: Prompt {
  private let terminalPath: String
  private let usesTerminal: Bool
  private let variable: @Sendable (String) -> String?
  private let patience: Duration
  private let open = OpenPrompt()

  /// - Parameters:
  ///   - terminalPath: `/dev/tty` is the terminal that controls this process.
  ///   - patience: How long a person may take for one answer; then `.cancelled`.
  public init(terminalPath: String = "/dev/tty", patience: Duration = .seconds(300)) {
    self.init(terminalPath: terminalPath, patience: patience) { processVariable($0) }
  }

  /// - Parameter usesTerminal: false for pinentry alone, which may use the terminal in its own way.
  package init(
    terminalPath: String, usesTerminal: Bool = true, patience: Duration = .seconds(300),
    variable: @escaping @Sendable (String) -> String?
  ) {
    self.terminalPath = terminalPath
    self.usesTerminal = usesTerminal
    self.patience = patience
    self.variable = variable
  }

  /// As the prompt that was found.
  ///
  /// - Throws: `.interactionNotAllowed` at once, with the reason, where nobody can be asked.
  public func readSecret(_ request: PromptRequest) throws(VaultError) -> SecretBytes {
    do throws(TerminalError) {
      if hasTerminal { return try terminal.type(request) }
    } catch { return try pinentry(insteadOf: error).readSecret(request) }
    return try pinentry().readSecret(request)
  }

  /// As the prompt that was found.
  public func confirm(_ request: PromptRequest) throws(VaultError) -> Bool {
    do throws(TerminalError) {
      if hasTerminal { return try terminal.agree(request) }
    } catch { return try pinentry(insteadOf: error).confirm(request) }
    return try pinentry().confirm(request)
  }

  /// A line of its own on the terminal, where there is one.
  public func show(_ line: String, for request: PromptRequest) { terminal.show(line, for: request) }

  /// Ends what is open, from any thread.
  public func cancel() { open.cancel() }

  private var hasTerminal: Bool { usesTerminal && (try? Terminal(path: terminalPath)) != nil }

  private func pinentry() throws(VaultError) -> PinentryPrompt {
    do throws(Pinentry.Absence) {
      let found = try Pinentry.find(terminalPath: terminalPath, variable)
      return PinentryPrompt(found, patience: patience, open: open)
    } catch { throw VaultError(absence: error) }
  }

  /// The pinentry that asks where the terminal is another program's, where it has a display.
  ///
  /// - Throws: What the terminal's error means, for any other error and where there is no such pinentry.
  private func pinentry(insteadOf error: TerminalError) throws(VaultError) -> PinentryPrompt {
    guard error == .background || error == .inUse, let found = try? pinentry() else {
      throw VaultError(prompt: error)
    }
    return found
  }

  private var terminal: TerminalPrompt { TerminalPrompt(path: terminalPath, patience: patience, open: open) }
}
