import CLinux
import CommandLineKit
import Glibc
import Synchronization
import VaultPrompts

/// The signals of the process of one command, as ``Interruption/ofProcess`` gets them. Nothing of this is used in an agent.
enum ProcessSignals {
  /// Has this process answer signals so: it runs one command, and no tests, which have signals of their own.
  static func adopt() {
    isAdopted.store(true, ordering: .sequentiallyConsistent)
    // The first use of a global value is not for a signal handler.
    let interruption = Interruption.ofProcess
    beforeWaitingForPerson { interruption.yield() }
  }

  /// Whether this process runs one command.
  static var areAdopted: Bool { isAdopted.load(ordering: .sequentiallyConsistent) }

  /// From here on a signal only tells ``Interruption/ofProcess`` that it came.
  static func redirect() {
    guard isAdopted.load(ordering: .sequentiallyConsistent) else { return }
    redirected.withLock { redirected in
      guard redirected.isEmpty else { return }
      redirected = [SIGINT, SIGTERM, SIGHUP, SIGQUIT].filter { !ThisProcess.isIgnored($0) }.map(redirect)
    }
  }

  /// Signals do again what they did before.
  static func giveBack() {
    let before = redirected.withLock { redirected in
      defer { redirected = [] }
      return redirected
    }
    for (number, action) in before {
      var action = action
      unsafe sigaction(number, &action, nil)
    }
  }

  /// A signal that came while it was redirected does what it did before.
  static func deliver(_ signal: Int32) { raise(signal) }

  private static func redirect(_ number: Int32) -> (number: Int32, action: sigaction) {
    var (old, new) = (sigaction(), sigaction())
    unsafe new.__sigaction_handler.sa_handler = noteEnding
    // The calls of SQLite go on.
    new.sa_flags = SA_RESTART
    unsafe sigaction(number, &new, &old)
    return (number, old)
  }
}

extension LocalHost {
  /// Has a signal that ends this process also end what a transport has started: the kernel ends the transport alone.
  func endTransportsOnSignals() {
    ThisProcess.handle([SIGINT, SIGTERM, SIGHUP, SIGQUIT]) { number in
      clinux_kill_bound_group()
      if number == SIGINT { _exit(130) }
      // It comes when the handler returns.
      signal(number, SIG_DFL)
      raise(number)
    }
  }
}

private let isAdopted = Atomic<Bool>(false)

/// What the signals did before; empty while they do so.
private let redirected = Mutex<[(number: Int32, action: sigaction)]>([])

/// Async-signal-safe: atomic operations alone.
private func noteEnding(_ signal: Int32) { Interruption.ofProcess.came(signal) }
