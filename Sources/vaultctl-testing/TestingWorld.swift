import CommandLineKit
import Glibc
import VaultCommands
import VaultKit
import VaultPrompts
import VaultTestKit

extension World {
  /// The real world but for what a test must hold in its hand: a derivation that costs nothing, and
  ///
  /// - `VAULTCTL_TESTING_CLOCK`: the wall clock stands at this Unix second,
  /// - `VAULTCTL_TESTING_BOOT`: and the boot clock at this second, 1,000 when not given,
  /// - `VAULTCTL_TESTING_SYNCHRONIZED`: and a time service keeps the wall clock right,
  /// - `VAULTCTL_TESTING_DERIVATIONS`: a file that gets one byte for each key derivation,
  /// - `VAULTCTL_TESTING_PATIENCE`: how many seconds a call of the Secret Service may take,
  /// - `VAULTCTL_TESTING_PAM`: the folder in which PAM finds its services, in a helper of tests beside this program.
  static var testing: World {
    var world = World.real
    let observer = derivationObserver
    if let folder = Environment.process["VAULTCTL_TESTING_PAM"] {
      world.presence = PAMPresence(service: "vault", helper: .testing(services: folder))
    }
    if let seconds = number("VAULTCTL_TESTING_PATIENCE") { world.secretServicePatience = .seconds(seconds) }
    if let wall = number("VAULTCTL_TESTING_CLOCK") {
      let boot = Duration.seconds(number("VAULTCTL_TESTING_BOOT") ?? 1000)
      let clock = FixedClock(at: Instant(seconds: wall), sinceBoot: boot)
      clock.setSynchronized(Environment.process["VAULTCTL_TESTING_SYNCHRONIZED"] != nil)
      world.vault = .testing(clock: clock, derivationObserver: observer)
      world.wait = { clock.advance(by: .seconds($0)) }
    } else {
      world.vault = .testing(derivationObserver: observer)
    }
    return world
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
