import AgentMessages
import VaultCommands
import VaultKit

/// The open vaults as one request sees them: the vault that it names, used in the name of its client.
struct RequestVaults: OpenVaults {
  let service: AgentService
  let request: AgentRequest

  var path: String { request.run.vault?.path ?? "" }
  var deviceKey: String? { request.run.deviceKey }

  func vault(
    at path: String, deviceKey: String?, open: () throws -> VaultCore
  ) throws -> (core: VaultCore, isNew: Bool)? {
    guard let file = request.file, path == self.path else { return nil }
    let found = try service.vaults.vault(file, at: path, deviceKey: deviceKey, open: open)
    if found != nil { request.usesVault() }
    return found.map { ($0.core.asked(by: request.caller), $0.isNew) }
  }

  func grants(of core: VaultCore) -> (any StandingGrants)? {
    request.file.map { RequestGrants(service, request, $0, core) }
  }

  func used(_ core: VaultCore) {
    if let file = request.file { service.vaults.used(file) }
  }

  func unlocked(_ core: VaultCore) {
    guard let file = request.file else { return }
    service.vaults.unlocked(file)
    service.waiting.end(for: file, but: request)
  }

  func provedPasscode(_ core: VaultCore) {
    // No command says its terminal itself.
    if let file = request.file {
      service.vaults.setUnlocker(PersonsTerminal(controlling: request.caller), of: file)
    }
  }

  func beginAsking(_ core: VaultCore) -> Bool {
    guard let file = request.file else { return true }
    // First noted, then looked: who unlocks looks in the other order.
    service.waiting.begin(request, for: file)
    guard core.isUnlocked else { return true }
    endAsking()
    return false
  }

  func endAsking() {
    service.waiting.remove(request)
    request.link.forgetCancel()
  }
}
