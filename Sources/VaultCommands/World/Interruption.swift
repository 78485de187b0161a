import Glibc
import SecretMemory
import Synchronization
package import VaultKit
import VaultPrompts

/// The signals that end a command, for verbs that change something. One state decides, so there are two ends: a signal came first, and
/// the command changes nothing, removes what it has made, and ends by that signal; or the first commit of the verb, or the name of its
/// file, came first, and the command completes, prints its result, and ends with its own exit code.
///
/// The vault calls ``commit()`` directly before each commit, and what makes a file calls ``hold()`` directly before the naming. The
/// commits of opening a vault and of verifying its passcode decide nothing. A wait for a person or a server ends the hold of a commit: a
/// signal that comes then ends the command.
///
/// A command without an agent has ``ofProcess``, which gets the signals of its process (``ProcessSignals``). In the agent each request
/// has its own: the signals are those of its client, and SIGHUP says that the client is gone.
///
/// A further signal changes nothing: a closed terminal, `timeout` and systemd send two. SIGKILL ends a command at once.
package final class Interruption: Sendable {
  /// That of the process, for the command that it was started for.
  package static let ofProcess = Interruption(isOfProcess: true)

  private let isOfProcess: Bool
  /// Whether the client is there, as the kernel says now: what another thread hears of its end can come too late.
  private let hasClient: @Sendable () -> Bool
  /// The signal that came before the hold, ``held``, or 0.
  private let first = Atomic<Int32>(0)
  /// A signal that came during the hold; else 0.
  private let late = Atomic<Int32>(0)
  /// Whether a file has its name.
  private let isNamed = Atomic<Bool>(false)
  /// Whether the client of a request has ended.
  private let isClientGone = Atomic<Bool>(false)
  /// The ``CommitSignals`` of the verb that runs.
  private let meetingNow = Atomic<Int32>(CommitSignals.ignored.rawValue)

  private static let held: Int32 = -1

  /// For a request of an agent.
  ///
  /// - Parameter hasClient: Whether the client is there. It is asked before the commit that decides.
  package convenience init(hasClient: @escaping @Sendable () -> Bool = { true }) {
    self.init(isOfProcess: false, hasClient: hasClient)
  }

  private init(isOfProcess: Bool, hasClient: @escaping @Sendable () -> Bool = { true }) {
    (self.isOfProcess, self.hasClient) = (isOfProcess, hasClient)
  }

  /// A signal came. Called by any thread, and by a signal handler: atomic operations alone.
  ///
  /// - Returns: False if the work was first, so that the command completes.
  @discardableResult
  package func came(_ signal: Int32) -> Bool {
    let found = first.compareExchange(expected: 0, desired: signal, ordering: .sequentiallyConsistent)
    guard found.original == Self.held else { return true }
    late.store(signal, ordering: .sequentiallyConsistent)
    return false
  }

  /// The client of a request has ended: what it would still be told or could still say is waited for no longer.
  package func clientIsGone() {
    isClientGone.store(true, ordering: .sequentiallyConsistent)
    came(SIGHUP)
  }

  /// Whether nothing is waited for any longer.
  private var endsWaits: Bool { signal != nil || isClientGone.load(ordering: .sequentiallyConsistent) }

  /// Runs a command. In a request of an agent, its waits for the client's descriptors end with the client, or with its signal.
  func boundingWaits<R>(_ body: () throws -> R) rethrows -> R {
    guard !isOfProcess else { return try body() }
    return try DescriptorWait.during(until: { self.endsWaits }, body)
  }

  /// The signal that came first, by which the command ends; nil if none did.
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

  /// Runs a verb, or a part of one, whose commits meet signals in this way.
  func meeting<R>(_ commits: CommitSignals, _ body: () throws -> R) rethrows -> R {
    let before = meetingNow.exchange(commits.rawValue, ordering: .sequentiallyConsistent)
    defer { meetingNow.store(before, ordering: .sequentiallyConsistent) }
    return try body()
  }

  /// From here on a signal does nothing but make ``check()``, ``commit()`` and ``hold()`` throw.
  func watch() {
    if isOfProcess { ProcessSignals.redirect() }
  }

  /// Called directly before each commit: from here on a signal is held, as ``CommitSignals`` says.
  ///
  /// - Throws: ``VaultError/Code/appCancelled`` after a signal: the commit is not made.
  func commit() throws(VaultError) {
    let commits = CommitSignals(rawValue: meetingNow.load(ordering: .sequentiallyConsistent)) ?? .ignored
    // A prompt that a signal has ended is logged, and then the signal ends this process.
    guard commits != .ignored, !(isOfProcess && isPromptEnded) else { return }
    if commits == .endingBetween { try endBetween() }
    watch()
    try decide()
  }

  /// Called directly before a file gets its name, or a device key is made or removed: from here on a signal is held, whatever else is
  /// done.
  ///
  /// - Throws: ``VaultError/Code/appCancelled`` after a signal.
  package func hold() throws(VaultError) {
    watch()
    try decide()
    isNamed.store(true, ordering: .sequentiallyConsistent)
  }

  /// The result is printed: signals do again what they did before. One that came meanwhile does it now, which ends the process.
  ///
  /// - Throws: In a request of an agent, after a signal.
  func release() throws(Interrupted) {
    let signal = endHold()
    if signal > 0, !isOfProcess { throw Interrupted() }
  }

  /// A person or a server is asked now: signals do what they did before, up to the next commit.
  func yield() {
    let isHeld = first.load(ordering: .sequentiallyConsistent) == Self.held
    if isHeld, !isNamed.load(ordering: .sequentiallyConsistent) { _ = endHold() }
  }

  /// The same where the person is at another process, of which ``yield()`` hears nothing.
  ///
  /// - Throws: ``VaultError/Code/appCancelled`` after a signal: nobody is asked.
  func yieldToClient() throws(VaultError) {
    guard !isOfProcess else { return }
    yield()
    try check()
  }

  /// - Returns: The signal that came; 0 if none did.
  private func endHold() -> Int32 {
    if isOfProcess { ProcessSignals.giveBack() }
    isNamed.store(false, ordering: .sequentiallyConsistent)
    let early = first.exchange(0, ordering: .sequentiallyConsistent)
    let late = late.exchange(0, ordering: .sequentiallyConsistent)
    let signal = early > 0 ? early : late
    if signal > 0 { if isOfProcess { ProcessSignals.deliver(signal) } else { came(signal) } }
    return signal
  }

  /// Waits for so many seconds, in a request of an agent, or until a signal comes.
  package func wait(seconds: UInt32) {
    let end = ContinuousClock.now + .seconds(Int64(seconds))
    while !endsWaits, ContinuousClock.now < end { usleep(50_000) }
  }

  private func decide() throws(VaultError) {
    if !hasClient() { clientIsGone() }
    let found = first.compareExchange(expected: 0, desired: Self.held, ordering: .sequentiallyConsistent)
    guard found.exchanged || found.original == Self.held else { throw Self.ended }
  }

  /// Ends the command by a signal that came after an earlier commit.
  private func endBetween() throws(VaultError) {
    let signal = late.load(ordering: .sequentiallyConsistent)
    guard signal > 0 else { return }
    first.store(signal, ordering: .sequentiallyConsistent)
    throw Self.ended
  }

  private static var ended: VaultError { VaultError(.appCancelled, "a signal has ended the command") }
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

/// A signal ends a command, as ``Interruption/signal`` says, without a message.
struct Interrupted: Error {}
