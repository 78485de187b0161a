import SealedStorage
import VaultFormat
import SecretMemory
import VaultCrypto
import VaultStorage

/// What a verification found, and what it did not check.
public struct VerifyReport: Sendable {
  /// How many items were opened.
  public internal(set) var items = 0
  /// How many secrets were opened.
  public internal(set) var secrets = 0
  /// How many secrets were not opened because they are locked: they need the passcode, or the device key that a
  /// recovery code does not replace.
  public internal(set) var lockedSecrets = 0
  /// How many secrets were not opened because an access rule guards them. In an unlocked vault, their rules were
  /// compared with their keys.
  public internal(set) var guardedSecrets = 0
  /// How many audit entries were opened.
  public internal(set) var auditEntries: UInt64 = 0
  /// Whether the audit chain was checked with its keys; without the passcode it cannot be.
  public internal(set) var isAuditChainChecked = false
  /// How many audit entries do not open, because they are damaged or a newer version made them. The chain goes
  /// through them, so it was not checked.
  public internal(set) var unreadableEntries = 0
  /// The damaged parts, one line for each; empty if there is no damage.
  public internal(set) var problems: [String] = []
  /// Those of ``problems`` that are of the audit log: entries, and the log as a whole.
  package var auditProblems: [String] { problems.filter { $0.hasPrefix("audit") } }
  /// Whether only the audit log is damaged.
  package var isOnlyAuditDamaged: Bool { !problems.isEmpty && auditProblems.count == problems.count }
  /// The parts that a newer version of this program made, one line for each. This version does not open them, so it
  /// cannot detect damage in them.
  public internal(set) var newer: [String] = []

  /// The number of a commit that was seen on this machine and was not in the file when it was opened; `nil` if no commit is known
  /// to be missing.
  public internal(set) var missingCommit: UInt64?
  /// The counts of the vault that are near their end, in words. What the seals say of a vault that is used never gets there.
  public internal(set) var countsNearEnd: [String] = []

  /// Whether everything was checked, every secret and the audit chain, with no part that a newer version made, and no commit is
  /// known to be missing.
  public var isComplete: Bool {
    lockedSecrets == 0 && guardedSecrets == 0 && isAuditChainChecked && newer.isEmpty && missingCommit == nil
  }
}
