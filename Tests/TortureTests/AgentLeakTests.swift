import Foundation
import Glibc
import TestSupport
import Testing
import VaultTestKit

extension Torture {
  @Suite("What an agent leaves in memory and files", .bounded, .serialized)
  struct AgentLeaks {
    private let passcode = Canary()
    private let wrong = Canary()
    private let secret = Canary()
    private let name = Canary()

    @Test(
      "no passcode and no secret is in the memory of the agent or of a command, in a file or in its log, before and after a lock",
      .requirement("R7"))
    func memory() throws {
      try needRoot("the memory of an agent")
      let home = try AgentHome(passcode: passcode.text)
      let agent = try #require(home.agent.process)
      try expect(home.run(["unlock", "--passcode-fd", "0"], input: passcode.text).status, equals: 0)
      try expect(home.run(["add", name.text], input: secret.text).status, equals: 0)
      try expect(
        home.run(["get", name.text, "--passcode-fd", "0"], input: wrong.text).status, equals: 3)
      let gate = try Gate()
      let batch = try home.start(["vault", "batch"], gate: gate)
      gate.write("{\"args\":[\"edit\",\"\(name.text)\",\"--password\"],\"stdin\":\"\(secret.text)\"}\n")
      gate.write("{\"args\":[\"get\",\"\(name.text)\"]}\n")
      let answers = [batch.line(), batch.line()].compactMap(\.self)
      #expect(answers.count == 2 && answers[1].contains(secret.text), "\(answers)")
      // The agent reads names as text, so the search finds them there.
      try expect(found(in: agent, [("name", name)]), equals: ["name as raw"])
      try expect(found(in: agent, secrets) + found(in: batch.pid, secrets), equals: [])
      gate.open()
      expect(batch.wait(), equals: 0)
      try expect(home.run(["lock"]).status, equals: 0)
      try expect(found(in: agent, secrets), equals: [])
      try home.agent.stop()
      expect(home.agent.said, equals: [])
      expect(files(below: home.vault.folder), equals: [])
    }

    private var secrets: [(String, Canary)] {
      [("passcode", passcode), ("wrong", wrong), ("secret", secret)]
    }

    private func found(in process: pid_t, _ canaries: [(String, Canary)]) throws -> [String] {
      var found: Set<String> = []
      try ProcessMemory.forEachRegion(of: process) { data in
        for (what, canary) in canaries {
          for form in canary.forms(in: data) { found.insert("\(what) as \(form)") }
        }
      }
      return found.sorted()
    }

    private func files(below folder: String) -> [String] {
      (FileManager.default.subpaths(atPath: folder) ?? []).flatMap { path in
        let data = FileManager.default.contents(atPath: folder + "/" + path) ?? Data()
        return (secrets + [("name", name)]).flatMap { what, canary in
          canary.forms(in: data).map { "\(what) as \($0) in \(path)" }
        }
      }
    }
  }
}
