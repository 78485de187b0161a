import AgentMessages
import CommandLineKit
import Dispatch
import Glibc
import Synchronization
package import VaultCommands
import VaultKit

/// What all threads of the agent share: its vaults, who waits for a passcode, and the way to wake the main thread.
package final class AgentService: Sendable {
  package let vaults: ServedVaults
  package let world: World
  package let process: Int32 = getpid()
  /// Who shows the prompts of commands. Nothing changes it while the agent runs.
  package let asking: AgentAsking
  let waiting = WaitingRequests()
  let prompts = PromptBound()
  let wake: WakeUp
  private let closer = LateCloser()
  /// The thread that accepts and locks, as `pthread_self` names it; 0 before it began.
  private let main = Atomic<UInt>(0)
  private let isHearing = Atomic(false)
  private let isStopping = Atomic(false)
  /// Whether a request moves the vault of a keeper, or finds out where it is.
  private let isBeingMoved = Atomic(false)
  private let unreachable = DispatchSemaphore(value: 0)

  /// - Parameters:
  ///   - world: Clocks, randomness and derivation costs; the rest of the world of a request is its client's.
  ///   - asking: Who shows the prompts of commands.
  ///   - log: Writes that a vault was locked.
  /// - Throws: ``AgentStartError``.
  package init(
    in world: World, asking: AgentAsking = .client, log: LockLog = LockLog()
  ) throws(AgentStartError) {
    let wake = try WakeUp()
    self.wake = wake
    self.world = world
    self.asking = asking
    vaults = ServedVaults(clock: world.vault.clock, log: log) { wake.signal() }
  }

  /// Whether logind tells of sleep and of sessions.
  package var hearsLogind: Bool {
    get { isHearing.load(ordering: .relaxed) }
    set { isHearing.store(newValue, ordering: .relaxed) }
  }

  /// Wipes all keys, and has the agent end when its requests have ended.
  package func stop() {
    isStopping.store(true, ordering: .sequentiallyConsistent)
    vaults.lockAll(because: .ending)
    wake.signal()
  }

  /// No command reaches the agent any more.
  func becameUnreachable() { unreachable.signal() }

  /// Waits until no command reaches the agent any more, so that the next one does without it: for a while, since the main thread may
  /// be held up.
  func waitUntilUnreachable() {
    guard unreachable.wait(timeout: .now() + 5) == .success else { return }
    // For another request that waits.
    unreachable.signal()
  }

  /// Whether the vault of a keeper is being moved. Then no other request is run.
  var hasVaultOnItsWay: Bool { isBeingMoved.load(ordering: .sequentiallyConsistent) }

  /// Runs `body` while no other request moves the vault of the keeper, nor begins to use it.
  ///
  /// - Throws: Exit 13 if another one does.
  func moving<R>(_ body: () throws -> R) throws -> R {
    guard !isBeingMoved.exchange(true, ordering: .sequentiallyConsistent) else {
      throw CommandError(
        .io, "the vault of the keeper is being moved", hint: "try again", code: "keeperMoving")
    }
    defer { isBeingMoved.store(false, ordering: .sequentiallyConsistent) }
    return try body()
  }

  /// Who may connect: this user, and the person whom a keeper serves.
  var client: UInt32 { world.isKeeper ? world.keeper.person : geteuid() }

  var hasToStop: Bool { isStopping.load(ordering: .sequentiallyConsistent) }

  /// The thread that calls this accepts and locks from now on.
  func becomeMain() { main.store(pthread_self(), ordering: .relaxed) }

  /// Closes a descriptor that came from a client, unless it is of a file of an open vault: closing that would release the locks of
  /// this process.
  ///
  /// A file system or a socket of the client can take its time, even to say what it is. So the main thread leaves it to others.
  func close(_ descriptor: Int32) {
    guard main.load(ordering: .relaxed) == pthread_self() else { return vaults.closeUnlessHeld(descriptor) }
    closer.close(descriptor) { [vaults] in vaults.closeUnlessHeld($0) }
  }
}
