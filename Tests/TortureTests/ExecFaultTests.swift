import TestSupport
import Testing
import VaultKit
import VaultTestKit

extension Torture {
  @Suite("A secret that cannot be handed to a program", .bounded, .serialized)
  struct ExecFaults {
    // Verified to fail on commit b8da9bc: 2, "beyond what this process may open".
    @Test("a descriptor that the system does not give is 13, one beyond the limit is 2")
    func descriptors() throws {
      try Shell.need("strace")
      let place = TemporaryVault(in: Place.fast)
      do { _ = try place.makeCore() }
      let tool = try Tool(place)
      // Nothing is concealed of a secret that is so short.
      _ = try tool.run(["add", "mail"], input: "short")
      for (fault, number, exit) in [("EMFILE", "7", 13), ("ENOSPC", "7", 13), ("", "99999999", 2)] {
        let inject =
          fault.isEmpty
          ? [] : ["strace", "-f", "-o", "/dev/null", "-e", "trace=dup2", "-e", "inject=dup2:error=\(fault)"]
        let words = inject + [Built.path("vaultctl-testing"), "run", "--fd", "\(number)=mail", "--", "true"]
        let process = try Running(words[0], Array(words.dropFirst()), environment: tool.environment)
        let said = process.lines().joined(separator: "\n")
        expect(process.wait(), equals: Int32(exit), "\(fault): \(said)")
        #expect(said.contains("descriptor \(number)"), "\(said)")
      }
    }
  }
}
