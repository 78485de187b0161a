import AgentMessages
import CommandLineKit
import Dispatch
import Glibc
import Synchronization
package import VaultCommands
import VaultKit
import VaultPrompts

/// What all threads of the agent share: its vaults, who waits for a passcode, and the way to wake the main thread.
package final class AgentService: Sendable {
  package let vaults: ServedVaults
  package let world: World
  package let process: Int32 = getpid()
  /// Who shows the prompts of commands. Nothing changes it while the agent runs.
  package let asking: AgentAsking
  let waiting = WaitingRequests()
  let prompts = PromptBound()
  /// The questions of the keeper's own terminal that ended early.
  let cuts = CutQuestions()
  /// Knows which programs processes run.
  let executables: ExecutableReader
  let wake: WakeUp
  private let closer = LateCloser()
  /// The thread that accepts and locks, as `pthread_self` names it; 0 before it began.
  private let main = Atomic<UInt>(0)
  private let isHearing = Atomic(false)
  private let isStopping = Atomic(false)
  /// The process of the command that moves the vault of a keeper, or finds out where it is; 0 for none.
  private let mover = Atomic<UInt32>(0)
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
    executables = ExecutableReader(
      asking: world.isKeeper ? PAMStarter(number: world.environment["VAULTD_LOGINS"]) : nil)
    vaults = ServedVaults(clock: world.vault.clock, log: log, knowing: executables) { wake.signal() }
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

  /// What is said while the vault of a keeper is being moved, when no other request is run; nil when it is not.
  ///
  /// A command that does not answer holds up all others, so its process is named.
  var move: String? {
    let process = mover.load(ordering: .sequentiallyConsistent)
    return process == 0 ? nil : "process \(process) is moving the vault of the keeper"
  }

  /// Runs `body` while no other request moves the vault of the keeper, nor begins to use it.
  ///
  /// - Parameter process: That of the command.
  /// - Throws: Exit 13 if another one does.
  func moving<R>(for process: UInt32, _ body: () throws -> R) throws -> R {
    let (isFirst, other) = mover.compareExchange(
      expected: 0, desired: process, ordering: .sequentiallyConsistent)
    guard isFirst else {
      throw CommandError(
        .io, "process \(other) is moving the vault of the keeper",
        hint: "try again when it has ended; if it hangs, end it: kill \(other)", code: "keeperMoving")
    }
    defer { mover.store(0, ordering: .sequentiallyConsistent) }
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
