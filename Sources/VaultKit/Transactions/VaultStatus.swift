import VaultFormat
import VaultKeys
import PasswordDerivation
import VaultCrypto
import VaultStorage

/// The identity and the state of a vault at one moment, without secrets and names. Later commits, of this process or another one,
/// do not change it: ask ``Vault/status()`` again.
public struct VaultStatus: Sendable {
  /// The identifier, which never changes.
  public let vault: VaultID
  /// The file.
  public let path: String
  /// When it was created.
  public let created: Instant
  /// Increases by 1 with every change of keys.
  package let config: UInt64
  /// The generation of its keys, from 1.
  public let generation: UInt32
  /// Who keeps the device key.
  public let protector: ProtectorKind
  /// The device key that opens it.
  public let deviceKey: DeviceKeyID
  /// How many items it has.
  public let itemCount: Int
  /// Commits since it was created or restored.
  public let sequence: UInt64
  /// Whether a passcode is set.
  public let hasPasscode: Bool
  /// Whether a recovery code works.
  public let hasRecoveryCode: Bool
  /// Whether everything that a passcode guards was open in this process.
  public let isUnlocked: Bool
  /// Whether the vault could not be written when this process opened it.
  public let isReadOnly: Bool
  /// Whether the vault's own state, with its count of wrong passcodes, is damaged: then the vault can be read, and takes no passcode.
  public let isStateDamaged: Bool
  /// The number of wrong passcodes in a row; 0 if the vault's own state is damaged.
  public let passcodeFailures: Int
  /// How long the vault refuses every passcode from now on; `nil` if it accepts one now.
  public let passcodeDelay: Duration?
  /// Whether the vault refuses phrases and fingers until a right passcode is given.
  public let isBiometryLocked: Bool
  /// Argon2id memory in KiB, passes and lanes of the passcode; `nil` without one.
  public let derivation: (memoryKiB: Int, passes: Int, lanes: Int)?
  /// The newest audit entry.
  public let auditSequence: UInt64
  /// Whether a rotation of the epoch is under way: two generations of keys are in force.
  public let isRotating: Bool
  /// The number of a commit that was seen on this machine and was not in the file when it was opened: an older state was put back,
  /// or the file went on from one. `nil` if no commit is known to be missing.
  public let missingCommit: UInt64?
  /// Whether the rotation waits until the parts that do not open are restored or removed.
  public let isRotationPaused: Bool
}

extension ReadTransaction {
  mutating func status() throws(VaultError) -> VaultStatus {
    let head = try store.head()
    let header = store.keys.header
    let parameters = header.passcodeDerivation?.parameters
    let stored = try store.vaultStateIfSound()
    let state = stored ?? VaultState()
    return VaultStatus(
      vault: header.vault, path: store.rows.path, created: header.created, config: header.config,
      generation: header.generation, protector: header.protector, deviceKey: header.deviceKey,
      itemCount: Int(clamping: head.itemCount), sequence: head.sequence, hasPasscode: header.hasPasscode,
      hasRecoveryCode: header.recoveryHalf != nil, isUnlocked: store.keys.isUnlocked,
      isReadOnly: store.rows.isReadOnly, isStateDamaged: stored == nil, passcodeFailures: Int(state.failures),
      passcodeDelay: Lockout.remaining(state, clock: store.environment.clock),
      isBiometryLocked: state.biometryFailures >= BiometryLockout.limit,
      derivation: parameters.map { (Int($0.memoryKiB), Int($0.iterations), Int($0.parallelism)) },
      auditSequence: head.nextAudit - 1, isRotating: store.keys.previous != nil,
      missingCommit: store.missingCommit,
      isRotationPaused: store.keys.previous != nil && head.rotation.phase == .paused)
  }
}
