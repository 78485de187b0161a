import TestSupport
import Testing

@Suite("Programs that tests look for", .bounded)
struct ShellTests {
  /// Verified to fail when the directories of `PATH` are not made strings: then each test that needs a program is skipped.
  @Test("a program along PATH is found, and one that is nowhere is not")
  func find() {
    #expect(Shell.has("env") && Shell.has("bash"))
    #expect(!Shell.has("a-program-that-is-nowhere"))
  }
}
