import Glibc
import Synchronization
package import VaultKit

/// Whether a command is to end early. One state decides, so there are two ends: a signal came first, and the command removes what it
/// has made and ends by that signal; or the work was first, and the command completes, prints its result, and ends with its own exit
/// code. A further signal changes nothing.
///
/// A command without an agent has that of its process. In the agent each request has its own: the signals come from its client, and
/// SIGHUP when the client is gone.
package final class Interruption: Sendable {
  /// The signal that came before the hold, ``held``, or 0.
  private let first = Atomic<Int32>(0)
  /// A signal that came during the hold; else 0.
  private let late = Atomic<Int32>(0)
  private static let held: Int32 = -1

  /// That of this process: it gets the signals of the process.
  package static let ofProcess = Interruption()

  package init() {}

  /// A signal came. Called by any thread, and by signal handlers: atomic operations alone.
  package func came(_ signal: Int32) {
    let found = first.compareExchange(expected: 0, desired: signal, ordering: .sequentiallyConsistent)
    if found.original == Self.held { late.store(signal, ordering: .sequentiallyConsistent) }
  }

  /// The signal that ends the command; nil if none does.
  package var signal: Int32? {
    let signal = first.load(ordering: .sequentiallyConsistent)
    return signal > 0 ? signal : nil
  }

  /// Called between the steps of the work.
  ///
  /// - Throws: ``VaultError/Code/appCancelled`` after a signal.
  package func check() throws(VaultError) {
    guard signal == nil else { throw Self.ended }
  }

  /// Called directly before the work becomes visible: from here on a signal is held.
  ///
  /// - Throws: ``VaultError/Code/appCancelled`` after a signal.
  package func hold() throws(VaultError) {
    let found = first.compareExchange(expected: 0, desired: Self.held, ordering: .sequentiallyConsistent)
    guard found.exchanged || found.original == Self.held else { throw Self.ended }
  }

  private static var ended: VaultError { VaultError(.appCancelled, "a signal has ended the command") }
}
