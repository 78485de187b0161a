package import VaultKit

/// What a verb that runs in the agent can ask of the agent itself. It is about the vault that the request names.
package protocol AgentControl: Sendable {
  /// The state now. Extends no lease.
  func status() -> AgentStatus
  /// Begins the lease of the vault of this request, which is unlocked.
  ///
  /// - Parameters:
  ///   - absolute: The time until it locks in any case; nil for the usual one.
  ///   - idle: The time without a use until it locks; nil for the usual one.
  /// - Returns: The vault with its lease; nil if it was locked meanwhile.
  func setLease(absolute: Duration?, idle: Duration?) -> AgentStatus.Vault?
  /// Locks the vault of this request, or all vaults.
  ///
  /// - Returns: The paths of those that were unlocked.
  func lock(everything: Bool) -> [String]
  /// Runs `body` while no other request begins to use the vault of this request, which is closed.
  ///
  /// - Throws: What `body` throws; exit 13 if another request does so already.
  func withoutOthers<R>(_ body: () throws -> R) throws -> R
  /// What persons have let programs do again, the oldest first.
  func grants() -> [AgentGrant]
  /// Ends one of them, or all.
  ///
  /// - Parameter number: As ``grants()`` has it; nil for all.
  /// - Returns: How many ended.
  func revokeGrants(_ number: Int64?) -> Int
  /// Locks everything. The agent ends when this request has its answer.
  func stop()
}

/// What a person has let a program do again, as `vaultctl agent grants` says it.
package struct AgentGrant: Sendable {
  package let number: Int64
  /// The path of its vault.
  package let vault: String
  package let item: String
  package let itemID: ItemID
  /// As a verb phrase: "read the secret".
  package let operation: String
  package let program: PromptRequest.Requester
  /// The time until it ends.
  package let left: Duration
  /// nil: as often as the program likes.
  package let usesLeft: Int?

  package init(
    number: Int64, vault: String, item: String, itemID: ItemID, operation: String,
    program: PromptRequest.Requester, left: Duration, usesLeft: Int?
  ) {
    (self.number, self.vault, self.item, self.itemID) = (number, vault, item, itemID)
    (self.operation, self.program, self.left, self.usesLeft) = (operation, program, left, usesLeft)
  }
}

/// What `vaultctl agent status` says.
package struct AgentStatus: Sendable {
  /// A vault that the agent has open.
  package struct Vault: Sendable {
    package let path: String
    package let isUnlocked: Bool
    /// The time until it locks if no secret is used; nil while it is locked.
    package let idleLeft: Duration?
    /// The time until it locks in any case.
    package let absoluteLeft: Duration?

    package init(path: String, isUnlocked: Bool, idleLeft: Duration?, absoluteLeft: Duration?) {
      (self.path, self.isUnlocked, self.idleLeft, self.absoluteLeft) = (
        path, isUnlocked, idleLeft, absoluteLeft
      )
    }
  }

  package let process: Int32
  package let version: String
  package let vaults: [Vault]
  /// Whether logind tells it of sleep and of locked sessions.
  package let hearsLogind: Bool
  /// Who shows the prompts of commands.
  package let asks: AgentAsking
  /// Why a keeper can verify no login password; nil where it can, and in an agent of the person.
  package let loginObstacle: VaultError?

  package init(
    process: Int32, version: String, vaults: [Vault], hearsLogind: Bool, asks: AgentAsking = .client,
    loginObstacle: VaultError? = nil
  ) {
    (self.process, self.version, self.vaults, self.hearsLogind) = (process, version, vaults, hearsLogind)
    (self.asks, self.loginObstacle) = (asks, loginObstacle)
  }
}
