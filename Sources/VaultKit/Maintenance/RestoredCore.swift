/// What ``RestoredVault`` is to the actor.
package struct RestoredCore: Sendable {
  package let core: VaultCore
  package let report: BackupReport
  /// The path of the new file: the requested path, or one beside it.
  package let path: String
}
