import AgentMessages
import CommandLineKit
import Glibc
import VaultKit

extension Surroundings {
  /// Where a command runs: at a terminal or not, and with a vault or without one.
  init(of world: World) {
    self.init(
      isInteractive: isatty(world.standardInput) == 1 && isatty(world.standardOutput) == 1
    ) { verb in
      // A second vault is hardly what was meant. Only words of the environment are believed here: the line was not read.
      verb != "init" || !Self.hasVault(in: world)
    }
  }

  private static func hasVault(in world: World) -> Bool {
    let named = world.environment["VAULTCTL_PATH"].flatMap { $0.isEmpty ? nil : $0 }
    let path = named ?? (try? VaultPath.unnamed { world.environment[$0] }?.path) ?? nil
    return path.map { unsafe access($0, F_OK) == 0 || $0.hasPrefix(KeeperPlace.word) } ?? false
  }
}
