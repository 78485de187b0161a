import AgentMessages
import VaultCommands
import VaultKit

/// The grants of the program that has started the command of one request.
struct RequestGrants: StandingGrants {
  private let service: AgentService
  private let request: AgentRequest
  private let file: FileIdentity
  private let core: VaultCore

  init(_ service: AgentService, _ request: AgentRequest, _ file: FileIdentity, _ core: VaultCore) {
    (self.service, self.request, self.file, self.core) = (service, request, file, core)
  }

  func grant(for item: ItemID, _ operation: ItemOperation) -> StandingGrant? {
    guard let program else { return nil }
    return service.vaults.grants.grant(in: file, for: item, operation, to: program.identity)
  }

  func use(_ grant: StandingGrant) -> Bool { service.vaults.grants.use(grant) }

  func end(_ grant: StandingGrant) { service.vaults.grants.end(grant) }

  func offer(
    _ grant: StandingGrant, named name: String, afterTyping hasTyped: Bool,
    asking ask: () throws(VaultError) -> GrantAnswer
  ) throws(VaultError) -> GrantAnswer? {
    guard let program, isHeard(afterTyping: hasTyped) else { return nil }
    let answer = try ask()
    // The person has seen this program, and no other.
    if self.program?.identity == program.identity {
      service.vaults.grants.keep(
        grant, as: answer, in: file, at: request.run.vault?.path ?? "", named: name, to: program, of: core)
    }
    return answer
  }

  /// The program that can have grants; nil for one that the kernel does not show, and for one of another session.
  private var program: MeasuredProgram? {
    let program = MeasuredProgram(
      starting: request.caller, over: request.link.socket.descriptor, knowing: service.executables)
    return program?.isOfSession == true ? program : nil
  }

  /// Whether an answer can be that of the person. In a keeper, where the command shows its prompts itself, it can only if the person has
  /// just typed what the command could have kept: a finger, which the keeper verifies, gives it nothing to repeat.
  private func isHeard(afterTyping hasTyped: Bool) -> Bool {
    guard service.world.isKeeper, case .client = RequestPlaces(service, request).place else { return true }
    return hasTyped
  }
}
