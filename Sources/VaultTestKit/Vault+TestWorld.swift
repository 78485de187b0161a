public import VaultKit

/// The ways to a vault, in the world of a test. They block their thread, in a world of cheap derivations for
/// milliseconds. No call has a standard place for the device key, so a test never touches the keys of its user.
extension Vault {
  /// Creates a vault. Throws, and creates nothing, when the path already exists.
  ///
  /// - Parameters:
  ///   - path: Where to create the file. Missing directories are made with mode 0700.
  ///   - protector: Who keeps the device key.
  ///   - passcode: `nil` for a vault that is never locked.
  ///   - world: The clock, the random bytes and the cost of derivations.
  /// - Throws: As ``Vault/create(at:protector:passcode:)``.
  public static func create(
    at path: VaultPath, protector: any Protector, passcode: consuming Passcode? = nil, in world: TestWorld
  ) throws(VaultError) -> Vault {
    Vault(
      core: try VaultCore.create(
        at: path.path, protector: protector, passcode: passcode, environment: world.environment))
  }

  /// Opens a vault, also one that was made in another world of a test. Creates nothing.
  ///
  /// - Throws: As ``Vault/open(at:protector:)``.
  public static func open(
    at path: VaultPath, protector: any Protector, in world: TestWorld
  ) throws(VaultError) -> Vault {
    Vault(core: try VaultCore.open(at: path.path, protector: protector, environment: world.environment))
  }

  /// Opens the vault at a path, or creates one where there was none, as ``Vault/openOrCreate(at:protector:passcode:)`` does in
  /// many processes. The directory of the path must exist.
  ///
  /// - Parameters:
  ///   - path: The vault file.
  ///   - protector: Who keeps the device key.
  ///   - passcode: The passcode of a new vault. A vault that is there is unlocked with it; the attempt counts.
  ///   - world: The clock, the random bytes and the cost of derivations.
  /// - Throws: As ``Vault/openOrCreate(at:protector:passcode:)``.
  public static func openOrCreate(
    at path: VaultPath, protector: any Protector, passcode: consuming Passcode? = nil, in world: TestWorld
  ) throws(VaultError) -> OpenedOrCreatedVault {
    let (core, isNew) = try VaultCore.openOrCreate(
      at: path.path, protector: protector, passcode: passcode, environment: world.environment)
    return OpenedOrCreatedVault(vault: Vault(core: core), isNew: isNew)
  }

  /// Makes a vault from a backup, with the same items and a new device key.
  ///
  /// - Parameters:
  ///   - backup: The backup file.
  ///   - passphrase: The passphrase of the backup.
  ///   - path: A path that does not exist yet.
  ///   - protector: Who keeps the new device key.
  ///   - world: The clock, the random bytes and the cost of derivations.
  /// - Throws: ``VaultError/Code/authenticationFailed`` for a wrong passphrase, ``VaultError/Code/vaultExists``,
  ///   ``VaultError/Code/damaged``, ``VaultError/Code/io``.
  public static func restore(
    from backup: VaultPath, passphrase: consuming Passcode, to path: VaultPath, protector: any Protector,
    in world: TestWorld
  ) throws(VaultError) -> Vault {
    let restored = try VaultCore.restore(
      from: backup.path, passphrase: passphrase, to: path.path, protector: protector,
      environment: world.environment)
    return Vault(core: restored.core)
  }

  /// Opens a vault whose device key is lost with its recovery code, and makes a new device key. Destroys the
  /// this-device-only items, because they depended on the lost key.
  ///
  /// - Throws: ``VaultError/Code/authenticationFailed`` for another vault's code, ``VaultError/Code/policy`` if the
  ///   vault has no recovery code.
  public static func recover(
    at path: VaultPath, with code: borrowing RecoveryCode, protector: any Protector, in world: TestWorld
  ) throws(VaultError) -> Vault {
    let recovered = try VaultCore.recover(
      at: path.path, with: code, protector: protector, environment: world.environment)
    return Vault(core: recovered.core)
  }
}
