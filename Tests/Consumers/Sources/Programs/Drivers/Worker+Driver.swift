import SecretMemory
import VaultKit
import VaultTestKit

extension Driver {
  static let worker = Driver(name: "Worker") {
    let place = TemporaryVault()
    let path = VaultPath(place.folder + "/jobs.vault")
    let workers = try await withThrowingTaskGroup(of: Worker.self) { group in
      for name in ["first", "second", "third", "fourth"] {
        group.addTask { try await Worker.start(name, at: path, keys: place.protector) }
      }
      return try await group.reduce(into: [Worker]()) { $0.append($1) }
    }
    let vault = workers[0].vault
    try await vault.write { vault in
      for number in 1...40 {
        var job = NewItem(.genericPassword, name: "job \(number)")
        job.attributes[.service] = "waiting"
        _ = try vault.add(job, secret: SecretBytes(testing: "\(number)"))
      }
    }

    let done = Record()
    try await withThrowingTaskGroup { group in
      for worker in workers {
        group.addTask {
          try await worker.run { job, secret in done.add("\(job.name ?? ""), secret \(secret.text)") }
        }
      }
      try await group.waitForAll()
    }
    let expected = (1...40).map { "job \($0), secret \($0)" }
    try expect(done.all.sorted() == expected.sorted(), "every job is done once, with its own secret")
    try expect(try await vault.status().itemCount == 0, "no job is left")
  }
}
