import VaultKit

/// Takes jobs from a vault. Of several workers, in one process or in many, one gets each job.
struct Worker: Sendable {
  let name: String
  let vault: Vault

  private func take() async throws -> Item? {
    try await vault.write { [name] vault in
      var waiting = Attributes()
      waiting[.service] = "waiting"
      guard let job = try vault.items(matching: Query(.genericPassword, where: waiting, limit: 1)).first
      else { return nil }
      var taken = ItemChanges()
      (taken.attributes[.service], taken.attributes[.comment]) = ("taken", name)
      return try vault.update(job.id, taken)
    }
  }

  /// Works until no job is left. A job whose worker is killed remains in the vault, with the name of the worker.
  func run(_ work: @Sendable (Item, RawSpan) throws -> Void) async throws {
    while let job = try await take() {
      try await vault.withSecret(of: job.id) { try work(job, $0) }
      try await vault.delete(Query(id: job.id))
    }
  }
}
