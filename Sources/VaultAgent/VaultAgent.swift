import AgentMessages
import CLinux
import CommandLineKit
import Glibc
import SecretMemory
package import VaultCommands
import VaultKit
import VaultPrompts

/// The agent, `vaultd`: a process of one user that keeps vaults unlocked for a while, and runs the verbs of `vaultctl` for them.
///
/// A verb runs here with the descriptors of its command, on a thread of its own, by the same `VaultControl.run`. What belongs to the
/// process that the person started stays there: the agent calls back for prompts, files, the clipboard (``VaultCommands/Host``).
/// So there is no second protocol and no second way to an item.
///
/// `Asking/` has who is asked, which is a setting of the agent.
///
/// ``AgentLoop`` is the main thread: one `poll` for all. ``AgentService`` is what all threads share: ``ServedVaults``, the open
/// vaults by the identity of their files, each with its ``Lease``. `Requests/` has what one request sees of it. `Socket/` and
/// `Process/` begin and end the process; `Logind/` locks at sleep and with the session.
///
/// What it cannot do: within one user it is no boundary. While a vault is unlocked, every program of the user can use it through
/// the agent, as it could read a terminal of theirs. docs/security/threat-model.md says what that changes.
///
/// Read `Vaults/Lease.swift` first, then `Vaults/ServedVaults.swift`, then `AgentLoop.swift`.
package enum VaultAgent {
  /// Runs the agent until a signal or a command ends it, then ends the process.
  package static func main(in world: World) -> Never {
    ProcessHardening.apply()
    VaultLibraries.leaveOutErrorTexts()
    VaultLibraries.rewriteThroughFiles()
    ThisProcess.openStandardDescriptors()
    umask(0o077)
    // The kernel would call it by the number of the descriptor through which it was started.
    _ = unsafe clinux_name_process("vaultd")
    for number in [SIGPIPE, SIGXFSZ] { signal(number, SIG_IGN) }
    allowManyDescriptors()
    let words = ThisProcess.arguments()
    if words == ["--help"] || words == ["-h"] {
      write(usage + "\n", to: 1)
      _exit(0)
    }
    if words.first == "--keeper" { keep(words, in: world) }
    let tells = words.first == AgentStart.argument
    guard let asking = AgentAsking(arguments: words.dropFirst(tells ? 1 : 0).map { $0 ?? "" }),
      asking.isForAgent
    else {
      say(usage)
      _exit(2)
    }
    run(in: world, asking: asking, tells: tells)
  }

  /// Runs the keeper of a person: the same, under a user id of its own.
  private static func keep(_ words: [String?], in world: World) -> Never {
    guard words.count > 1, let person = words[1].flatMap({ UInt32($0) }),
      let asking = AgentAsking(arguments: words.dropFirst(2).map { $0 ?? "" }), asking.isForKeeper
    else {
      say(usage)
      _exit(2)
    }
    var world = world
    world.isKeeper = true
    world.keeper = KeeperPlace(of: person)
    run(in: world, asking: asking)
  }

  /// - Parameter tells: Whether the outcome is told on descriptor 3, and not on standard error.
  private static func run(in world: World, asking: AgentAsking, tells: Bool = false) -> Never {
    let readiness = Readiness(environment: world.environment, pipe: tells ? 3 : -1)
    do throws(AgentStartError) {
      try serve(in: world, asking: asking, telling: readiness)
      _exit(0)
    } catch {
      readiness.failed(error)
      if !tells { say(error.text) }
      _exit(error.exit)
    }
  }

  /// `docs/man/vaultd.1` explains the same options.
  private static let usage =
    "usage: vaultd [--ask client|unlocker|pinentry | --ask terminal --terminal PATH | --help] or vaultd --keeper UID "
    + "[--ask client|finger | --ask terminal --terminal PATH]; it is started by 'vaultctl agent start', by 'vault-keeper start' or by the "
    + "units in docs/systemd"

  private static func serve(
    in world: World, asking: AgentAsking, telling readiness: Readiness
  ) throws(AgentStartError) {
    if let former = world.environment.formerVariable { throw .formerVariable(former) }
    if let path = asking.terminal, !PersonsTerminal(path: path).isThere { throw .notATerminal(path) }
    // Under another user id it would keep nothing from somebody's programs.
    if world.isKeeper, userName != "vaultd-\(world.keeper.person)" { throw .notAKeeper }
    let service = try AgentService(in: world, asking: asking)
    let socket = try socket(in: world)
    // A clock that a test sets has no timer: the test wakes the agent.
    let timer = world.vault.clock is SystemClock ? try BootTimer() : nil
    StopSignals.watch(waking: service.wake)
    let loop = AgentLoop(service, listeningOn: socket, timer: timer)
    LoginWatch(service: service).start()
    readiness.ready()
    while !loop.isDone {
      loop.turn()
      if StopSignals.hasCome, !service.hasToStop { service.stop() }
    }
    readiness.stopping()
    service.vaults.waitForLog()
  }

  /// The name of the user of this process; nil if it has none.
  private static var userName: String? {
    unsafe getpwuid(geteuid()).flatMap { unsafe $0.pointee.pw_name }.map { unsafe String(cString: $0) }
  }

  private static func socket(in world: World) throws(AgentStartError) -> ListeningSocket {
    if let inherited = try ListeningSocket(inherited: world.environment, by: getpid()) { return inherited }
    guard !world.isKeeper else { throw .notAKeeper }
    let place = AgentPlace(
      runtime: world.environment["XDG_RUNTIME_DIR"], standard: world.standardRuntimeDirectory)
    guard let place else { throw .noPlace }
    do throws(AgentPlace.Flaw) { try place.makeDirectory() } catch { throw .unsafePlace(error) }
    return try ListeningSocket(making: place.socket)
  }

  /// Each command has up to six descriptors here.
  private static func allowManyDescriptors() {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = min(limit.rlim_max, 65_536)
    _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }

  private static func say(_ line: String) { write("vaultd: \(line)\n", to: 2) }

  private static func write(_ text: String, to descriptor: Int32) {
    _ = unsafe Glibc.write(descriptor, text, text.utf8.count)
  }
}
