/// Why a terminal prompt gave no answer.
package enum TerminalError: Error, Equatable, Sendable {
  /// There is no terminal of that name, or it cannot be read. The raw value is an errno.
  case noTerminal(Int32)
  /// Ctrl-C, Ctrl-D or the end of the terminal; or another thread ended the prompt.
  case cancelled
  /// Nobody answered for as long as a prompt waits.
  case timedOut
  /// More bytes than the limit were typed.
  case tooLong(limit: Int)
  /// A signal asked the process to end; the terminal has been restored.
  case signalled(Int32)
}
