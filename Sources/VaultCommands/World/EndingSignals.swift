import CommandLineKit
import Glibc
import Synchronization
import VaultKit
import VaultPrompts

/// The signals that end a command, for verbs that change something. One state decides, so there are two ends: a signal came first, and
/// the command changes nothing, removes what it has made, and ends by that signal; or the first commit of the verb, or the name of its
/// file, came first, and the command completes, prints its result, and ends with its own exit code.
///
/// The vault calls ``commit()`` directly before each commit, and what makes a file calls ``hold()`` directly before the naming. The
/// commits of opening a vault and of verifying its passcode decide nothing. A wait for a person or a server ends the hold of a commit: a
/// signal that comes then ends the command.
///
/// A further signal changes nothing: a closed terminal, `timeout` and systemd send two. SIGKILL ends a command at once.
enum EndingSignals {
  /// Has this process answer signals so: it runs one command, and no tests, which have signals of their own.
  static func adopt() {
    isAdopted.store(true, ordering: .sequentiallyConsistent)
    beforeWaitingForPerson { yield() }
  }

  /// Runs a command until its result is printed. Where a signal came before ``commit()`` or ``hold()``, this process ends by it.
  ///
  /// - Parameter end: Called with the exit code while signals are still held.
  static func during(_ command: () -> ExitCode, end: (ExitCode) -> Void) -> ExitCode {
    let code = command()
    if !isEnding { end(code) }
    release()
    return code
  }

  /// Runs a verb, or a part of one, whose commits meet signals in this way.
  static func meeting<R>(_ commits: CommitSignals, _ body: () throws -> R) rethrows -> R {
    let before = meetingNow.exchange(commits.rawValue, ordering: .sequentiallyConsistent)
    defer { meetingNow.store(before, ordering: .sequentiallyConsistent) }
    return try body()
  }

  /// From here on a signal does nothing but make ``check()``, ``commit()`` and ``hold()`` throw.
  static func watch() {
    guard isAdopted.load(ordering: .sequentiallyConsistent) else { return }
    redirected.withLock { redirected in
      guard redirected.isEmpty else { return }
      redirected = [SIGINT, SIGTERM, SIGHUP, SIGQUIT].filter { !ThisProcess.isIgnored($0) }.map(redirect)
    }
  }

  /// Called between the steps of the work.
  ///
  /// - Throws: ``VaultError/Code/appCancelled`` after a signal.
  static func check() throws(VaultError) {
    guard !isEnding else { throw ended }
  }

  /// Called directly before each commit: from here on a signal is held, as ``CommitSignals`` says.
  ///
  /// - Throws: ``VaultError/Code/appCancelled`` after a signal: the commit is not made.
  static func commit() throws(VaultError) {
    let commits = CommitSignals(rawValue: meetingNow.load(ordering: .sequentiallyConsistent)) ?? .ignored
    // A prompt that a signal has ended is logged, and then the signal ends this process.
    guard commits != .ignored, !isPromptEnded else { return }
    if commits == .endingBetween { try endBetween() }
    watch()
    try decide()
  }

  /// Called directly before a file gets its name, or a device key is made or removed: from here on a signal is held, whatever else is
  /// done.
  ///
  /// - Throws: ``VaultError/Code/appCancelled`` after a signal.
  static func hold() throws(VaultError) {
    watch()
    try decide()
    isNamed.store(true, ordering: .sequentiallyConsistent)
  }

  /// Whether a signal came first: the command ends by it.
  static var isEnding: Bool { first.load(ordering: .sequentiallyConsistent) > 0 }

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
    isNamed.store(false, ordering: .sequentiallyConsistent)
    let early = first.exchange(0, ordering: .sequentiallyConsistent)
    let late = late.exchange(0, ordering: .sequentiallyConsistent)
    let signal = early > 0 ? early : late
    if signal > 0 { raise(signal) }
  }

  /// A person or a server is asked now: signals do what they did before, up to the next commit.
  static func yield() {
    let isHeld = first.load(ordering: .sequentiallyConsistent) == held
    if isHeld, !isNamed.load(ordering: .sequentiallyConsistent) { release() }
  }

  private static func decide() throws(VaultError) {
    let found = first.compareExchange(expected: 0, desired: held, ordering: .sequentiallyConsistent)
    guard found.exchanged || found.original == held else { throw ended }
  }

  /// Ends the command by a signal that came after an earlier commit.
  private static func endBetween() throws(VaultError) {
    let signal = late.load(ordering: .sequentiallyConsistent)
    guard signal > 0 else { return }
    first.store(signal, ordering: .sequentiallyConsistent)
    throw ended
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

/// What a signal does to a verb that commits.
package enum CommitSignals: Int32, Sendable {
  /// It ends the verb at any time. The verb only reads, or the name of its file decides.
  case ignored
  /// From the first commit on it is held until the result is printed.
  case held
  /// It ends the verb between two of its commits, which then says what was done. It is held in each of them.
  case endingBetween
}

private let isAdopted = Atomic<Bool>(false)

/// The ``CommitSignals`` of the verb that runs.
private let meetingNow = Atomic<Int32>(CommitSignals.ignored.rawValue)

/// What the signals did before; empty while they do so.
private let redirected = Mutex<[(number: Int32, action: sigaction)]>([])

/// The signal that came before the hold, ``held``, or 0.
private let first = Atomic<Int32>(0)
private let held: Int32 = -1

/// Whether a file has its name.
private let isNamed = Atomic<Bool>(false)

/// A signal that came during the hold; else 0.
private let late = Atomic<Int32>(0)

/// Async-signal-safe: atomic operations alone.
private func noteEnding(_ signal: Int32) {
  let found = first.compareExchange(expected: 0, desired: signal, ordering: .sequentiallyConsistent)
  if found.original == held { late.store(signal, ordering: .sequentiallyConsistent) }
}
