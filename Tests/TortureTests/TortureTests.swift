import Foundation
import TestSupport
import Testing

/// Kill, race, mutate, fill: what a vault has to survive (docs/security/threat-model.md, the promises).
///
/// Each test has a short form, which runs with all tests, and a long one: `scripts/torture NAME --long`.
/// Each names the faults that it was verified to find.
@Suite("Torture", .bounded, .serialized)
enum Torture {}

/// How much of a test is run, and from which seed.
enum Scale {
  static let isLong = isLongForm

  /// Printed by every test that uses it: the same seed makes the same choices.
  static let seed = SeededGenerator.seedOfRun

  static func pick(_ short: Int, long: Int) -> Int { isLong ? long : short }
}

/// One line of result, seen in the log of every run.
func report(_ line: String) { print("torture: \(line)") }
