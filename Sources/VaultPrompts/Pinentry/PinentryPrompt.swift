import Glibc
public import SecretMemory
public import VaultKit

/// Asks through pinentry, the program by which people on Linux know their passphrases to be asked for.
///
/// It is started for each prompt, over two pipes (Assuan), with nothing of our environment but what it needs to find
/// the display, and no other descriptor. What is typed goes from the pipe into locked memory.
public struct PinentryPrompt: Prompt {
  private let pinentry: Pinentry
  private let patience: Duration
  private let silence: Duration
  private let open: OpenPrompt

  /// The pinentry that `$VAULT_PINENTRY` names, else the system's.
  ///
  /// - Parameter patience: How long a person may take for one answer; then `.cancelled`.
  /// - Throws: `.interactionNotAllowed` when there is none, or neither a display nor a terminal for it.
  public init(patience: Duration = .seconds(300)) throws(VaultError) {
    do throws(Pinentry.Absence) {
      self.init(try Pinentry.find(processVariable), patience: patience)
    } catch { throw VaultError(absence: error) }
  }

  /// - Parameter silence: How long pinentry itself may take until it asks the person.
  package init(
    _ pinentry: Pinentry, patience: Duration = .seconds(300), silence: Duration = Self.silence
  ) {
    self.init(pinentry, patience: patience, silence: silence, open: OpenPrompt())
  }

  init(
    _ pinentry: Pinentry, patience: Duration, silence: Duration = Self.silence, open: OpenPrompt
  ) {
    self.pinentry = pinentry
    self.patience = patience
    self.silence = silence
    self.open = open
  }

  /// With the end of one that ignores SIGTERM it stays under 5 s.
  package static let silence = Duration.seconds(4)

  /// At most 1,024 bytes.
  ///
  /// - Throws: `.cancelled` when the person declines, nobody answers or pinentry ends; `.malformed` for NUL and more
  ///   bytes; `.verificationUnavailable` when it talks nonsense or not at all; `.interactionNotAllowed` when it cannot ask.
  public func readSecret(_ request: PromptRequest) throws(VaultError) -> SecretBytes {
    try converse(about: request) { talk throws(VaultError) in
      let secret = try SecretBytes(capacity: TypedSecret.longest) { output throws(VaultError) in
        try talk.ask("GETPIN") { data throws(VaultError) in try AssuanChannel.decode(data, into: &output) }
      }
      return secret
    }
  }

  /// Whether the person pressed the button that agrees.
  public func confirm(_ request: PromptRequest) throws(VaultError) -> Bool {
    do {
      _ = try converse(about: request) { talk throws(VaultError) in
        try talk.ask("CONFIRM") { _ throws(VaultError) in throw .pinentryNonsense("data where none belongs") }
        return SecretBytes(zeroes: 0)
      }
      return true
    } catch  where error.underlying == PinentryTalk.notConfirmed {
      return false
    }
  }

  /// Ends what is open, from any thread.
  public func cancel() { open.cancel() }
}

extension PinentryPrompt {
  private func converse(
    about request: PromptRequest, asking body: (inout PinentryTalk) throws(VaultError) -> SecretBytes
  ) throws(VaultError) -> SecretBytes {
    let signals: PromptSignals
    do throws(TerminalError) {
      signals = try PromptSignals.take(patience: patience) {
        TerminalPrompt.sayWaiting(on: pinentry.terminal)
      }
    } catch { throw VaultError(prompt: error) }
    defer { signals.giveBack() }
    open.open(signals.wake)
    defer { open.close() }
    let held = HeldJobSignals()
    defer { held.restore() }
    let turn: PinentryTurn
    do throws(TerminalError) {
      turn = try PinentryTurn(on: pinentry.terminal, signals: signals, patience: patience)
    } catch {
      throw VaultError(prompt: error)
    }
    defer { turn.end() }
    let blocked = BlockedPipeSignal()
    defer { blocked.restore() }
    return try talk(about: request, in: turn, asking: body)
  }

  private func talk(
    about request: PromptRequest, in turn: PinentryTurn,
    asking body: (inout PinentryTalk) throws(VaultError) -> SecretBytes
  ) throws(VaultError) -> SecretBytes {
    var process = try PinentryProcess(pinentry)
    var talk = PinentryTalk(
      AssuanChannel(input: process.input, output: process.output), turn: turn, patience: patience,
      silence: silence)
    try talk.begin(pinentry)
    try talk.describe(request)
    let answer = try body(&talk)
    talk.end()
    process.letGo()
    return answer
  }
}

extension VaultError {
  /// Why nobody can be asked through pinentry.
  package init(absence: Pinentry.Absence) {
    switch absence {
    case .notInstalled:
      self.init(
        .interactionNotAllowed, "there is no pinentry to ask with",
        hint: "install it: apt install pinentry-curses")
    case .badVariable:
      self.init(
        .interactionNotAllowed, "VAULT_PINENTRY does not name a program by its absolute path",
        hint: "set it to a path like /usr/bin/pinentry-curses, or unset it")
    case .terminalTaken(let obstacle): self.init(prompt: obstacle)
    case .nowhereToAsk:
      self.init(
        .interactionNotAllowed, "there is neither a terminal nor a display to ask on",
        hint: "start it on a terminal or in a desktop session")
    }
  }
}
