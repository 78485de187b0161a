import CommandLineKit
import Glibc
package import VaultCommands
import VaultKit
import VaultPrompts
import VaultTestKit

extension World {
  /// The real world but for what a test must hold in its hand: a derivation that costs nothing, and
  ///
  /// - `VAULTCTL_TESTING_CLOCK`: the wall clock stands at this Unix second,
  /// - `VAULTCTL_TESTING_BOOT`: and the boot clock at this second, 1,000 when not given,
  /// - `VAULTCTL_TESTING_DERIVATIONS`: a file that gets one byte for each key derivation,
  /// - `VAULTCTL_TESTING_PATIENCE`: how many seconds it waits for other programs and processes, and what is done after a
  ///   signal may take,
  /// - `VAULTCTL_TESTING_AFTER_SIGNAL`: and the latter alone,
  /// - `VAULTCTL_TESTING_CLIPBOARD`: a named pipe, for the time of `--copy`: it is over when its seconds are read there,
  /// - `VAULTCTL_TESTING_PAM`: the folder in which PAM finds its services, in a helper of tests beside this program.
  package static var testing: World {
    var world = World.real
    world.host = testingHost
    let observer = derivationObserver
    if let wall = number("VAULTCTL_TESTING_CLOCK") {
      let boot = Duration.seconds(number("VAULTCTL_TESTING_BOOT") ?? 1000)
      let clock = FixedClock(at: Instant(seconds: wall), sinceBoot: boot)
      world.vault = .testing(clock: clock, derivationObserver: observer)
      world.wait = { clock.advance(by: .seconds($0)) }
    } else {
      world.vault = .testing(derivationObserver: observer)
    }
    setPatience(of: &world)
    // A test never reaches the agent of the person who runs it.
    world.standardRuntimeDirectory = nil
    // It waits for other programs, which take their time.
    world.vault.pause = VaultEnvironment.system.pause
    world.agentProgram = "vaultd-testing"
    return world
  }

  private static var testingHost: LocalHost {
    var host = LocalHost(environment: .process)
    if let folder = Environment.process["VAULTCTL_TESTING_PAM"] {
      host.pam = PAMPresence(helper: .testing(services: folder))
    }
    if let pipe = Environment.process["VAULTCTL_TESTING_CLIPBOARD"] {
      host.clipboardWait = { writeWhenRead("\($0)\n", to: pipe) }
    }
    if let seconds = number("VAULTCTL_TESTING_PATIENCE") { host.clipboardPatience = .seconds(seconds) }
    return host
  }

  private static func setPatience(of world: inout World) {
    if let seconds = number("VAULTCTL_TESTING_PATIENCE") {
      let time = Duration.seconds(seconds)
      (world.patience.secretService, world.patience.transport) = (time, time)
      world.patience.afterSignal = Int(seconds)
      world.vault.patience = time
    }
    // A machine under the load of other tests is no agent that does not answer.
    world.patience.agent = .seconds(number("VAULTCTL_TESTING_AGENT") ?? 120)
    if let seconds = number("VAULTCTL_TESTING_AFTER_SIGNAL") { world.patience.afterSignal = Int(seconds) }
  }

  /// The opening waits for a reader.
  private static func writeWhenRead(_ line: String, to pipe: String) {
    let file = unsafe open(pipe, O_WRONLY | O_CLOEXEC)
    guard file >= 0, unsafe write(file, line, line.utf8.count) > 0 else { fatalError("cannot write \(pipe)") }
    close(file)
  }

  private static func number(_ variable: String) -> Int64? {
    Environment.process[variable].flatMap { Int64($0) }
  }

  private static var derivationObserver: (@Sendable () -> Void)? {
    guard let path = Environment.process["VAULTCTL_TESTING_DERIVATIONS"] else { return nil }
    return {
      let file = unsafe open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
      guard file >= 0, unsafe write(file, "d", 1) == 1 else { fatalError("cannot count a derivation") }
      close(file)
    }
  }
}
