import AgentMessages
import CommandLineKit
import VaultCommands

extension AgentService {
  /// Why the agent does nothing for a request, so that the command does it by itself; nil if it runs it.
  func refusal(
    of run: AgentRun, isOfThisProtocol: Bool, descriptors: [Int32]
  ) -> AgentRefusal? {
    if hasToStop { return AgentRefusal(.ending, "the agent is ending") }
    // The command of another version must be able to end this agent.
    guard
      (run.version == world.agentVersion && isOfThisProtocol) || run.words.starts(with: ["agent", "stop"])
    else {
      return AgentRefusal(.version, "the agent is of version \(world.agentVersion)")
    }
    if descriptors.contains(where: vaults.holds) {
      return AgentRefusal(.vaultAsInput, "a descriptor of the command is a file of a vault that is open")
    }
    guard let vault = run.vault, let identity = vault.identity else { return nil }
    let file = FileIdentity(device: identity.device, inode: identity.inode)
    guard FileIdentity(of: vault.path) == file else {
      return AgentRefusal(.vaultChanged, "another file has got the path of the vault meanwhile")
    }
    guard isOwnPlace(of: run), vaults.accepts(file, deviceKey: run.deviceKey) else {
      return AgentRefusal(.otherKey, "the agent looks for device keys elsewhere than the command")
    }
    guard vaults.hasRoom(for: file) else { return AgentRefusal(.full, "the agent has too many vaults open") }
    return nil
  }

  /// Whether the standard place of device keys is the same for the command and the agent.
  private func isOwnPlace(of run: AgentRun) -> Bool {
    ["XDG_STATE_HOME", "XDG_DATA_HOME", "HOME"].allSatisfy {
      (run.variables[$0] ?? "") == (world.environment[$0] ?? "")
    }
  }
}
