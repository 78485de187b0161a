import TestSupport
import Testing

extension Torture {
  /// What a torture test must see of the processes that it starts, shown on processes that misbehave on purpose.
  @Suite("Limits of the processes (all)", .bounded, .serialized)
  struct Limits {
    @Test("a process that grows without end comes to its end")
    func grows() throws {
      let gate = try Gate()
      let process = try torture("misbehave", "grow", gate: gate)
      gate.open()
      #expect(process.lines().last != "grown")
      #expect(process.wait() != 0)
    }
  }
}
