import CommandLineKit
import TestSupport
import Testing
import VaultCommands

extension Torture {
  /// Verified to fail when the scenarios of a verb are taken out, and when another verb counts as one that writes.
  @Suite("Verbs that write", .bounded)
  struct Scenarios {
    @Test("each verb that writes is in the list that system-calls, crash-states, leaks and mutations walk")
    func complete() {
      let listed = Set(Scenario.all.map(\.verb))
      // A keeper and root are needed for these: Tests/Hostile/test_moves.py kills them at each system call.
      let moves: Set = ["keeper adopt", "keeper leave", "keeper settle"]
      let written = Set(VerbTable.all.filter { $0.writes }.map { $0.name }).subtracting(moves)
      expect(written.subtracting(listed).sorted(), equals: [], "no scenario has these verbs")
      expect(listed.subtracting(written).sorted(), equals: [], "these are no verbs that write")
    }

    @Test("no verb is called twice in the same way")
    func unique() {
      expect(Set(Scenario.all.map(\.description)).count, equals: Scenario.all.count)
    }
  }
}
