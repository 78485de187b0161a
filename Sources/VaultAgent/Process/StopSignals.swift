import CommandLineKit
import Glibc
import Synchronization

/// SIGTERM, SIGINT and SIGHUP end the agent in order.
enum StopSignals {
  /// From here on such a signal wakes the main thread, which then sees ``hasCome``.
  static func watch(waking wake: WakeUp) {
    waking.store(wake.writingEnd, ordering: .sequentiallyConsistent)
    for number in [SIGTERM, SIGINT, SIGHUP] {
      var action = sigaction()
      unsafe action.__sigaction_handler.sa_handler = note
      action.sa_flags = SA_RESTART
      unsafe sigaction(number, &action, nil)
    }
  }

  static var hasCome: Bool { came.load(ordering: .sequentiallyConsistent) }
}

private let came = Atomic(false)
private let waking = Atomic<Int32>(-1)

/// Async-signal-safe: atomic operations and `write`.
private func note(_ signal: Int32) {
  let before = errno
  came.store(true, ordering: .sequentiallyConsistent)
  var byte: UInt8 = 0
  _ = unsafe write(waking.load(ordering: .sequentiallyConsistent), &byte, 1)
  errno = before
}
