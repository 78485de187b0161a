import CommandLineKit
import Glibc
import Synchronization
import VaultKit

/// The signals that end a command, for work that makes a file. One state decides, so there are two ends: a signal came first, and the
/// command removes what it has made and ends by that signal; or the file got its name first, and the command completes, prints its
/// result, and ends with its own exit code.
///
/// A further signal changes nothing: a closed terminal, `timeout` and systemd send two. SIGKILL ends a command at once.
enum EndingSignals {
  /// Runs a command until its result is printed. Where a signal came before ``hold()``, this process ends by it.
  ///
  /// - Parameter end: Called with the exit code while signals are still held.
  static func during(_ command: () -> ExitCode, end: (ExitCode) -> Void) -> ExitCode {
    let code = command()
    if first.load(ordering: .sequentiallyConsistent) <= 0 { end(code) }
    release()
    return code
  }

  /// From here on a signal does nothing but make ``check()`` and ``hold()`` throw.
  static func watch() {
    redirected.withLock { redirected in
      guard redirected.isEmpty else { return }
      redirected = [SIGINT, SIGTERM, SIGHUP, SIGQUIT].filter { !ThisProcess.isIgnored($0) }.map(redirect)
    }
  }

  /// Called between the steps of the work.
  ///
  /// - Throws: ``VaultError/Code/appCancelled`` after a signal.
  static func check() throws(VaultError) {
    guard first.load(ordering: .sequentiallyConsistent) <= 0 else { throw ended }
  }

  /// Called directly before a file gets its name: from here on a signal is held.
  ///
  /// - Throws: ``VaultError/Code/appCancelled`` after a signal.
  static func hold() throws(VaultError) {
    let found = first.compareExchange(expected: 0, desired: held, ordering: .sequentiallyConsistent)
    guard found.exchanged || found.original == held else { throw ended }
  }

  /// The result is printed: signals do again what they did before. One that came meanwhile does it now.
  static func release() {
    let before = redirected.withLock { redirected in
      defer { redirected = [] }
      return redirected
    }
    for (number, action) in before {
      var action = action
      unsafe sigaction(number, &action, nil)
    }
    let early = first.exchange(0, ordering: .sequentiallyConsistent)
    let late = late.exchange(0, ordering: .sequentiallyConsistent)
    let signal = early > 0 ? early : late
    if signal > 0 { raise(signal) }
  }

  private static var ended: VaultError { VaultError(.appCancelled, "a signal has ended the command") }

  private static func redirect(_ number: Int32) -> (number: Int32, action: sigaction) {
    var (old, new) = (sigaction(), sigaction())
    unsafe new.__sigaction_handler.sa_handler = noteEnding
    // The calls of SQLite go on.
    new.sa_flags = SA_RESTART
    unsafe sigaction(number, &new, &old)
    return (number, old)
  }
}

/// What the signals did before; empty while they do so.
private let redirected = Mutex<[(number: Int32, action: sigaction)]>([])

/// The signal that came before the hold, ``held``, or 0.
private let first = Atomic<Int32>(0)
private let held: Int32 = -1

/// A signal that came during the hold; else 0.
private let late = Atomic<Int32>(0)

/// Async-signal-safe: atomic operations alone.
private func noteEnding(_ signal: Int32) {
  let found = first.compareExchange(expected: 0, desired: signal, ordering: .sequentiallyConsistent)
  if found.original == held { late.store(signal, ordering: .sequentiallyConsistent) }
}
