import Glibc

/// Which process group may use a terminal.
enum JobControl {
  /// Whether the process is in the terminal's foreground group. True for a terminal that does not control the process,
  /// and for one that is gone: neither has a group of it.
  static func isInForeground(of terminal: Int32) -> Bool {
    let group = tcgetpgrp(terminal)
    return group < 0 || group == getpgrp()
  }

  /// - Throws: ``TerminalError/background``.
  static func requireForeground(of terminal: Int32) throws(TerminalError) {
    guard isInForeground(of: terminal) else { throw .background }
  }

  /// Lets the kernel refuse a change of the mode by a process that is in the background by now: SIGTTOU interrupts `body`.
  static func refusingBackground(_ body: () -> Int32) -> Int32 {
    var output = signals(SIGTTOU)
    unsafe pthread_sigmask(SIG_UNBLOCK, &output, nil)
    defer { unsafe pthread_sigmask(SIG_BLOCK, &output, nil) }
    return body()
  }

  /// Stops the process as Ctrl-Z does without a prompt. In an orphaned process group, as after `ssh -t`, where nothing could
  /// continue it, the kernel does nothing.
  static func stop() {
    var before = sigaction()
    var usual = sigaction()
    unsafe usual.__sigaction_handler.sa_handler = SIG_DFL
    unsafe sigaction(SIGTSTP, &usual, &before)
    defer { unsafe sigaction(SIGTSTP, &before, nil) }
    var mask = sigset_t()
    var stop = signals(SIGTSTP)
    unsafe pthread_sigmask(SIG_UNBLOCK, &stop, &mask)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &mask, nil) }
    _ = raise(SIGTSTP)
  }

  static func signals(_ numbers: Int32...) -> sigset_t {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    for number in numbers { unsafe sigaddset(&set, number) }
    return set
  }
}
