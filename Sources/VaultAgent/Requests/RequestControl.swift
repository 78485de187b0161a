import AgentMessages
import VaultCommands
import VaultKit
import VaultPrompts
import VaultWords

/// What one request can ask of the agent.
struct RequestControl: AgentControl {
  let service: AgentService
  let request: AgentRequest

  func status() -> AgentStatus {
    AgentStatus(
      process: service.process, version: Version.tool, vaults: service.vaults.all(),
      hearsLogind: service.hearsLogind, asks: service.asking, loginObstacle: loginObstacle)
  }

  private var loginObstacle: VaultError? {
    guard service.world.isKeeper, let host = service.world.host as? LocalHost else { return nil }
    return host.pam.obstacle()
  }

  func setLease(absolute: Duration?, idle: Duration?) -> AgentStatus.Vault? {
    guard let file = request.file else { return nil }
    return service.vaults.setLease(of: file, idle: idle, absolute: absolute)
  }

  func lock(everything: Bool) -> [String] {
    // The keys are wiped. The person may want to do something with the file next, so its entry is waited for, for a while.
    defer { service.vaults.waitForLog() }
    if everything { return service.vaults.lockAll(because: .command) }
    guard let vault = request.run.vault else { return [] }
    // By the file, which has many paths; by the path where the file is gone.
    let locked = request.file.flatMap { service.vaults.lock($0, because: .command) }
    return [locked].compactMap(\.self) + service.vaults.lock(at: vault.path, because: .command)
  }

  func withoutOthers<R>(_ body: () throws -> R) throws -> R {
    try service.moving(for: request.caller.process) {
      if let file = request.file {
        request.endUses(in: service)
        service.vaults.lock(file, because: .moved)
        // It is closed when its log has the entry.
        service.vaults.waitForLog()
      }
      return try body()
    }
  }

  func grants() -> [AgentGrant] { service.vaults.grants.all() }

  func revokeGrants(_ number: Int64?) -> Int { service.vaults.grants.revoke(number) }

  func stop() {
    // Root starts and ends a keeper. No command asks for this, but a program of its own can.
    guard !service.world.isKeeper else { return }
    service.stop()
    service.waitUntilUnreachable()
  }
}
