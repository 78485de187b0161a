import Testing
import VaultCommands

extension Torture {
  /// Has to fail when a scenario is taken out, and when a verb that writes is added to the table of verbs.
  @Suite("Verbs that write")
  struct Scenarios {
    @Test("each verb that writes is in the list that system-calls, crash-states, leaks and mutations walk")
    func complete() {
      let listed = Set(Scenario.all.map(\.verb))
      let written = Set(VerbTable.all.filter { !$0.isLater && $0.writes }.map(\.name))
      #expect(written.subtracting(listed).sorted() == [], "no scenario has these verbs")
      #expect(listed.subtracting(written).sorted() == [], "these are no verbs that write")
    }

    @Test("no verb is called twice in the same way")
    func unique() {
      #expect(Set(Scenario.all.map(\.description)).count == Scenario.all.count)
    }
  }
}
