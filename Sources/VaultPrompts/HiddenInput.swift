import Glibc

/// A terminal's mode while a line is read, and the mode it had before.
struct HiddenInput: ~Copyable {
  private let descriptor: Int32
  private let echoes: Bool
  private let before: termios

  /// - Parameter echoes: What is typed is shown: an answer that is no secret.
  init(_ descriptor: Int32, echoes: Bool = false) throws(TerminalError) {
    var mode = termios()
    guard unsafe tcgetattr(descriptor, &mode) == 0 else { throw .noTerminal(errno) }
    self.descriptor = descriptor
    self.echoes = echoes
    before = mode
    hide()
  }

  /// Echo off, line by line, Ctrl-C as a signal; what was typed before is dropped.
  borrowing func hide() {
    var mode = before
    mode.c_lflag &= ~tcflag_t(ECHO | ECHONL)
    mode.c_lflag |= tcflag_t(ICANON | ISIG | (echoes ? ECHO : 0))
    mode.c_iflag |= tcflag_t(ICRNL)
    set(mode)
  }

  /// The mode of before; the rest of a line that was too long is dropped, or the shell would run it.
  borrowing func restore() { set(before) }

  /// At once, not when all output is through: on a terminal that somebody stopped that would never be.
  private borrowing func set(_ mode: termios) {
    var mode = mode
    while unsafe tcsetattr(descriptor, TCSANOW, &mode) != 0, errno == EINTR {}
    tcflush(descriptor, TCIFLUSH)
  }
}
