import CommandLineKit
import Glibc
import Synchronization
import VaultKit

/// The signals that end a command, for work that removes what it has made when it does not come to its end.
enum EndingSignals {
  /// Runs `body`. From SIGINT, SIGTERM or SIGHUP on, ``check()`` throws, and when `body` has thrown, the process ends by that signal.
  /// A second signal ends the process at once.
  static func undoing<R>(_ body: () throws -> R) throws -> R {
    let before = [SIGINT, SIGTERM, SIGHUP].filter { !ThisProcess.isIgnored($0) }.map(redirect)
    do {
      let result = try body()
      giveBack(before)
      return result
    } catch {
      giveBack(before)
      let signal = came.exchange(0, ordering: .relaxed)
      if signal != 0 { kill(getpid(), signal) }
      throw error
    }
  }

  /// Called between the steps of the work.
  ///
  /// - Throws: ``VaultError/Code/appCancelled`` after a signal.
  static func check() throws(VaultError) {
    guard came.load(ordering: .relaxed) == 0 else {
      throw VaultError(.appCancelled, "a signal has ended the command")
    }
  }

  private static func redirect(_ number: Int32) -> (number: Int32, action: sigaction) {
    var (old, new) = (sigaction(), sigaction())
    unsafe new.__sigaction_handler.sa_handler = noteEnding
    // The calls of SQLite go on.
    new.sa_flags = SA_RESTART
    unsafe sigaction(number, &new, &old)
    return (number, old)
  }

  private static func giveBack(_ before: [(number: Int32, action: sigaction)]) {
    for (number, action) in before {
      var action = action
      unsafe sigaction(number, &action, nil)
    }
  }
}

/// The signal that came first; 0 before.
private let came = Atomic<Int32>(0)

/// Async-signal-safe: one exchange, and `_exit`.
private func noteEnding(_ signal: Int32) {
  guard came.exchange(signal, ordering: .relaxed) != 0 else { return }
  _exit(128 + signal)
}
