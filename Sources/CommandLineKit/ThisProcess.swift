import CLinux
import Glibc

/// What a program sets up before it does anything else.
package enum ThisProcess {
  /// The arguments without the name of the program; `nil` for one that is not UTF-8.
  package static func arguments() -> [String?] {
    (1..<max(1, clinux_argument_count())).map { index in
      unsafe clinux_argument(index).flatMap { unsafe String(validatingCString: $0) }
    }
  }

  /// A file of ours must never become descriptor 0, 1 or 2, where a message or a result would be written into it.
  /// What was closed stays useless: reading finds nothing, writing fails.
  package static func openStandardDescriptors() {
    for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) == -1 && errno == EBADF {
      _ = unsafe open("/dev/null", descriptor == 2 ? O_WRONLY : O_RDONLY)
    }
  }

  /// Whether the process was started with the signal ignored.
  package static func isIgnored(_ signal: Int32) -> Bool {
    var action = sigaction()
    unsafe sigaction(signal, nil, &action)
    return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
  }

  /// Ctrl-C outside a prompt is exit 130, unless the parent process ignores it.
  package static func endOnInterrupt() { handle([SIGINT]) { _ in _exit(130) } }

  /// Has `handler` called for these signals, except those that the parent process ignores.
  ///
  /// - Parameter handler: Does only what is async-signal-safe.
  package static func handle(_ signals: [Int32], by handler: @escaping @convention(c) (Int32) -> Void) {
    for signal in signals where !isIgnored(signal) {
      var action = sigaction()
      unsafe action.__sigaction_handler.sa_handler = handler
      action.sa_flags = 0
      unsafe sigaction(signal, &action, nil)
    }
  }

  /// Ends the process. Exit handlers of the libraries would only cost time.
  package static func end(with code: Int32) -> Never { _exit(code) }

  /// Ends the process as the signal would have without a handler.
  package static func end(by number: Int32) -> Never {
    signal(number, SIG_DFL)
    _ = raise(number)
    exit(128 + number)
  }
}
