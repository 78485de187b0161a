/// A restored vault and what the restore did.
public struct RestoredVault: Sendable {
  /// The open vault, with a new device key. If it has a passcode, it is locked.
  public let vault: Vault
  /// How many items it has, which counters need a resynchronization, and what became of the recovery code.
  public let report: BackupReport
  /// The path of the new file.
  public let path: String
  /// Where the replaced vault is now; `nil` if nothing was replaced. Its device key stays too.
  public let oldVault: String?
}
