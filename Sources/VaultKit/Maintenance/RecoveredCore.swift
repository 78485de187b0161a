/// What ``RecoveredVault`` is to the actor.
package struct RecoveredCore: Sendable {
  package let core: VaultCore
  package let lost: DestroyedItems
}
