import VaultKit

/// Takes jobs from a vault. Of several workers, in one process or in many, one gets each job.
struct Worker: Sendable {
  let name: String
  let vault: Vault

  /// Joins the workers of a vault. The first one creates it.
  static func start(_ name: String, at path: VaultPath, keys: any Protector) async throws -> Worker {
    Worker(name: name, vault: try await Vault.openOrCreate(at: path, protector: keys).vault)
  }

  /// Works until no job is left. A job whose worker is killed remains in the vault, with the name of the worker.
  func run(_ work: @Sendable (Item, RawSpan) throws -> Void) async throws {
    while let job = try await take() {
      try await vault.withSecret(of: job.id) { try work(job, $0) }
      try await vault.delete(job.id)
    }
  }

  private func take() async throws -> Item? {
    var (job, taken) = (Query(.genericPassword, limit: 1), ItemChanges())
    (job.attributes[.service], taken.attributes[.service]) = ("waiting", "taken by \(name)")
    return try await vault.write { [job, taken] vault in
      try vault.items(matching: job).first.map { try vault.update($0.id, taken) }
    }
  }
}
