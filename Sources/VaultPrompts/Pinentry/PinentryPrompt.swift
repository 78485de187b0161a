import Glibc
public import SecretMemory
import TextPreparation
public import VaultKit

/// Asks through pinentry, the program through which people on Linux usually type their passphrases.
///
/// Each prompt starts it again, with two pipes (Assuan), with the environment variables that it needs to find the
/// display, and with no other descriptor. What is typed goes from the pipe into locked memory.
public struct PinentryPrompt: Prompt, EndsWithRequest {
  private let pinentry: Pinentry
  private let patience: Patience
  private let silence: Patience
  private let open: OpenPrompt

  /// The pinentry that `$VAULTCTL_PINENTRY` names, else the one of the system.
  ///
  /// - Parameter patience: How long a person may take for one answer; then `.cancelled`.
  /// - Throws: `.interactionNotAllowed` when there is no pinentry, or neither a display nor a terminal for it.
  public init(patience: Duration = .seconds(300)) throws(VaultError) {
    do throws(Pinentry.Absence) {
      self.init(try Pinentry.find(processVariable), patience: Patience(patience), open: OpenPrompt())
    } catch { throw VaultError(absence: error) }
  }

  /// - Parameters:
  ///   - silence: How long pinentry itself may take until it shows the question.
  ///   - now: Both limits pass by this clock.
  package init(
    _ pinentry: Pinentry, patience: Duration = .seconds(300), silence: Duration = Self.silence,
    by now: @escaping Now
  ) {
    self.init(pinentry, patience: Patience(patience, by: now), silence: silence, open: OpenPrompt())
  }

  init(_ pinentry: Pinentry, patience: Patience, silence: Duration = Self.silence, open: OpenPrompt) {
    self.pinentry = pinentry
    self.patience = patience
    self.silence = Patience(silence, by: patience.now)
    self.open = open
  }

  /// The usual `silence`. Together with the end of a pinentry that ignores SIGTERM, it is less than 5 s.
  package static let silence = Duration.seconds(4)

  /// Asks for a secret of at most 1,024 bytes.
  ///
  /// - Throws: `.cancelled` when the person declines, when no answer comes, or when pinentry ends; `.malformed` for
  ///   NUL and for more bytes; `.verificationUnavailable` when pinentry breaks the protocol or is silent;
  ///   `.interactionNotAllowed` when pinentry cannot ask.
  public func readSecret(_ request: PromptRequest) throws(VaultError) -> SecretBytes {
    try converse(about: request) { talk throws(VaultError) in
      let secret = try SecretBytes(capacity: TypedSecret.longest) { output throws(VaultError) in
        try talk.ask("GETPIN") { data throws(VaultError) in try AssuanChannel.decode(data, into: &output) }
      }
      guard !secret.containsNUL else { throw VaultError(.malformed, "the answer contains a NUL byte") }
      return secret
    }
  }

  /// Asks for a yes or a no. True when the person pressed the button that agrees.
  public func confirm(_ request: PromptRequest) throws(VaultError) -> Bool {
    do {
      _ = try converse(about: request) { talk throws(VaultError) in
        try talk.ask("CONFIRM") { _ throws(VaultError) in throw .pinentryNonsense("unexpected data") }
        return SecretBytes(zeroes: 0)
      }
      return true
    } catch  where error.underlying == PinentryTalk.notConfirmed {
      return false
    }
  }

  /// Ends an open prompt, from any thread.
  public func cancel() { open.cancel() }
}

extension PinentryPrompt {
  private func converse(
    about request: PromptRequest, asking body: (inout PinentryTalk) throws(VaultError) -> SecretBytes
  ) throws(VaultError) -> SecretBytes {
    let signals: PromptSignals
    do throws(TerminalError) {
      signals = try PromptSignals.take(patience: patience, until: request.ending) {
        TerminalPrompt.sayWaiting(on: pinentry.terminal)
      }
    } catch { throw VaultError(prompt: error) }
    defer { signals.giveBack() }
    open.open(signals.wake)
    defer { open.close() }
    let watch = RequestWatch(request.ending, waking: signals.wake)
    defer { watch.stop() }
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
  /// Why pinentry cannot ask.
  package init(absence: Pinentry.Absence) {
    switch absence {
    case .notInstalled:
      self.init(
        .interactionNotAllowed, "no pinentry is installed",
        hint: "install it: apt install pinentry-curses")
    case .badVariable:
      self.init(
        .interactionNotAllowed, "VAULTCTL_PINENTRY does not name a program by its absolute path",
        hint: "set it to a path like /usr/bin/pinentry-curses, or unset it")
    case .formerVariable: self.init(.interactionNotAllowed, FormerVariable.pinentry.refusal)
    case .terminalTaken(let obstacle): self.init(prompt: obstacle)
    case .nowhereToAsk:
      self.init(
        .interactionNotAllowed, "there is neither a terminal nor a display to ask on",
        hint: "start it on a terminal or in a desktop session")
    }
  }
}
