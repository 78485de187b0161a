import TestSupport
import Testing

extension Torture {
  /// What a torture test must see of the processes that it starts, shown on processes that misbehave on purpose.
  @Suite("Limits of the processes (all)", .serialized)
  struct Limits {
    @Test("a process that hangs fails its test, and does not hang it")
    func hangs() throws {
      let process = try torture("misbehave", "hang", silence: 1)
      withKnownIssue("the silence is reported") { expect(process.lines(), equals: ["hanging"]) }
      expect(process.wait(), equals: -9)
    }

    @Test("a process that grows without end comes to its end")
    func grows() throws {
      let process = try torture("misbehave", "grow", silence: 100)
      #expect(process.lines().last != "grown")
      #expect(process.wait() != 0)
    }
  }
}
