import Glibc

/// A terminal's mode with echo off, and the mode it had before.
struct HiddenInput: ~Copyable {
  private let descriptor: Int32
  private let before: termios

  init(_ descriptor: Int32) throws(TerminalError) {
    var mode = termios()
    guard unsafe tcgetattr(descriptor, &mode) == 0 else { throw .noTerminal(errno) }
    self.descriptor = descriptor
    before = mode
    hide()
  }

  /// Echo off, line by line, Ctrl-C as a signal; what was typed before is dropped.
  borrowing func hide() {
    var mode = before
    mode.c_lflag &= ~tcflag_t(ECHO | ECHONL)
    mode.c_lflag |= tcflag_t(ICANON | ISIG)
    mode.c_iflag |= tcflag_t(ICRNL)
    set(mode)
  }

  /// The mode of before; the rest of a line that was too long is dropped, or the shell would run it.
  borrowing func restore() { set(before) }

  private borrowing func set(_ mode: termios) {
    var mode = mode
    while unsafe tcsetattr(descriptor, TCSAFLUSH, &mode) != 0, errno == EINTR {}
  }
}
