import Glibc
import TestSupport
import Testing
import VaultTestKit

extension Torture {
  /// Commands of one home that are killed at random moments.
  final class KilledCommands {
    private let home: ScenarioHome
    private let random: SeededRandom
    /// The latest moment of a kill, in microseconds after the start.
    private let latest: Int
    private(set) var count = 0
    private var cutShort = 0

    /// - Parameters:
    ///   - words: A command that is run once, to see how long it takes.
    ///   - share: The latest moment of a kill, in parts of that time: some of the commands end, and most do not.
    init(in home: ScenarioHome, random: SeededRandom, timedBy words: [String], share: Double) throws {
      (self.home, self.random) = (home, random)
      let start = ContinuousClock.now
      try home.run(words)
      latest = max(40_000, Int((ContinuousClock.now - start) / .microseconds(1) * share))
    }

    /// Starts a command and kills it.
    ///
    /// - Returns: The exit code, or minus the signal that ended it, and the whole lines that it printed.
    func run(_ words: [String]) throws -> (status: Int32, lines: [String]) {
      let process = try Running(
        Built.path("vaultctl-testing"), home.words(words), environment: ["HOME": home.folder], errors: false)
      usleep(UInt32(random.below(latest)))
      process.kill()
      let lines = process.lines()
      let status = process.wait()
      count += 1
      if status == -SIGKILL { cutShort += 1 }
      return (status, lines)
    }

    /// A kill that never hits anything proves nothing.
    func expectHits() { #expect(cutShort > count / 20) }

    var summary: String { "\(count) kills, \(cutShort) cut short" }
  }
}
