import SecretMemory
import VaultKit

extension Driver {
  static let worker = Driver(name: "Worker") {
    let scene = Scene()
    let vault = try await scene.make()
    try await vault.write { vault in
      for number in 1...40 {
        var job = NewItem(.genericPassword, name: "job \(number)")
        job.attributes[.service] = "waiting"
        _ = try vault.add(job, secret: SecretBytes("\(number)"))
      }
    }

    let done = Record()
    try await withThrowingTaskGroup { group in
      for name in ["first", "second", "third", "fourth"] {
        group.addTask {
          try await Worker(name: name, vault: try await scene.open()).run { job, secret in
            done.add("\(job.name ?? ""), secret \(secret.text)")
          }
        }
      }
      try await group.waitForAll()
    }
    let expected = (1...40).map { "job \($0), secret \($0)" }
    try expect(done.all.sorted() == expected.sorted(), "every job is done once, with its own secret")
    try expect(try await vault.status().itemCount == 0, "no job is left")
  }
}
