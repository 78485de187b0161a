import Glibc

/// The turn of a pinentry: on the terminal that it may use, or on none where it has a display only.
///
/// The pinentry sets the mode. This type holds the lock, records the mode for the next prompt, and restores the
/// mode at the end.
final class PinentryTurn {
  private let signals: PromptSignals
  private let descriptor: Int32
  private let path: String?
  private var turn: TerminalTurn?

  /// - Parameter path: The terminal; nil for none.
  init(on path: String?, signals: PromptSignals, patience: Patience) throws(TerminalError) {
    self.signals = signals
    self.path = path
    guard let path else {
      descriptor = -1
      return
    }
    descriptor = unsafe open(path, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw .noTerminal(errno) }
    turn = try TerminalTurn(on: descriptor, signals: signals, patience: patience) {
      TerminalPrompt.sayWaiting(on: path)
    }
    do throws(TerminalError) { try turn?.prepareRecord() } catch {
      turn?.end()
      throw error
    }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Waits until the program writes something, and handles signals meanwhile.
  func wait(for output: Int32, until deadline: Deadline) throws(TerminalError) {
    while let meaning = try wait(for: output, deadline) {
      if meaning == .stop { try stop() }
    }
  }

  /// Restores the mode, because a killed program leaves it changed.
  func end() {
    try? turn?.noteMode()
    turn?.end()
  }

  /// With a display only, there is no terminal to look at: only the program or a signal ends the wait.
  private func wait(
    for output: Int32, _ deadline: Deadline
  ) throws(TerminalError) -> PromptSignals.Meaning? {
    guard turn != nil else {
      guard let signal = try signals.wait(for: output, POLLIN, until: deadline) else { return nil }
      return try signals.meaning(of: signal)
    }
    return try signals.wait(for: output, until: deadline) { () throws(TerminalError) in
      try turn?.noteMode()
      return false
    }
  }

  /// Ctrl-Z stops the program together with this process. So does reading from a terminal that the shell has taken.
  private func stop() throws(TerminalError) {
    guard turn != nil else {
      JobControl.stop()
      return
    }
    try? turn?.noteMode()
    try turn?.stop { TerminalPrompt.sayWaiting(on: path) }
    try turn?.prepareRecord()
  }
}
