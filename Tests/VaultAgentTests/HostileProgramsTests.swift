import Foundation
import TestSupport
import Testing

/// Programs of the person attack a keeper under a user id of its own, and the agent of the person: Tests/Hostile. `scripts/hostile` runs all of
/// them; these are the ones in which nothing depends on how fast the machine is.
@Suite("Hostile programs of the person", .bounded, .requirement("G7"))
struct HostileProgramsTests {
  /// Verified to fail when the keeper's state can be read by others, when 'export' asks for no passcode there, and when the keeper
  /// looks at the vault that a command names.
  @Test("the keeper gives them nothing, and the agent what is expected")
  func short() throws { try run("--short") }

  /// Verified to fail when the keeper opens its file before the person's is gone, and when the command removes its own first.
  @Test("'keeper adopt' and 'keeper leave', killed at system calls: one side has the vault, and only one")
  func moves() throws {
    try Shell.need("strace")
    try run("--moves", "--short")
  }

  /// Verified to fail when the keeper asks no passcode for an item whose rule wants it.
  @Test("every transcript is the same with a keeper, but for what is meant to differ")
  func transcripts() throws { try run("--transcripts") }

  private func run(_ words: String...) throws {
    try needMounts("accounts and directories of its own")
    let environment = ProcessInfo.processInfo.environment.merging(
      ["HOSTILE_PROGRAMS": Built.directory.path]) { _, own in own }
    let run = try Program("scripts/hostile", words, environment: environment).run()
    #expect(run.status == 0, "\(run.text)")
  }
}
