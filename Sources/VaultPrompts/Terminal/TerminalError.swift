/// Why a terminal prompt gave no answer.
package enum TerminalError: Error, Equatable, Sendable {
  /// There is no terminal of that name, or it cannot be read. The raw value is an errno.
  case noTerminal(Int32)
  /// The process is not in the foreground of the terminal.
  case background
  /// Another program reads what is typed, key by key, and may show it.
  case inUse
  /// The lock that keeps other prompts off the terminal cannot be made. The text says why.
  case noLock(String)
  /// Another prompt on the terminal stayed open for as long as a prompt waits.
  case busy
  /// Ctrl-C, Ctrl-D or the end of the terminal; or another thread ended the prompt.
  case cancelled
  /// No answer came within the patience of the prompt.
  case timedOut
  /// More bytes than the limit were typed.
  case tooLong(limit: Int)
  /// More than one line arrived, as when a text is pasted: none of it is the answer.
  case severalLines
  /// A signal asked the process to end; the terminal has been restored.
  case signalled(Int32)

  /// Whether the terminal cannot ask for a reason that does not keep pinentry from asking: rule 2 of
  /// ``AutomaticPrompt``.
  var letsPinentryAsk: Bool {
    switch self {
    case .noTerminal, .background, .inUse: true
    case .noLock, .busy, .cancelled, .timedOut, .tooLong, .severalLines, .signalled: false
    }
  }

  /// Whether the question ended while the person may still have been typing: neither by a whole line nor by them.
  var isCut: Bool {
    switch self {
    case .cancelled, .tooLong, .severalLines: false
    case .noTerminal, .background, .inUse, .noLock, .busy, .timedOut, .signalled: true
    }
  }

  /// Whether the person has typed a line.
  var followsLine: Bool {
    switch self {
    case .tooLong, .severalLines: true
    default: false
    }
  }

  /// Why no prompt can be shown on the terminal; nil where one was shown.
  package var obstacle: String? {
    switch self {
    case .noTerminal: "there is no terminal to ask on"
    case .background: "this process is in the background of its terminal"
    case .inUse: "another program reads from this terminal"
    case .noLock(let why): "the terminal cannot be locked for one prompt: \(why)"
    case .busy, .cancelled, .timedOut, .tooLong, .severalLines, .signalled: nil
    }
  }
}
