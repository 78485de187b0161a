public import VaultFormat

/// Device keys in the desktop's Secret Service (GNOME Keyring, KWallet, KeePassXC), through libsecret.
///
/// Each key is one item of the default collection: the key as base64 text, with the ids of vault and key as attributes.
/// libsecret is loaded at the first call. If the service does not answer, the call fails after 3 seconds. The key is
/// never kept elsewhere instead.
///
/// **Who is kept out:** while the collection is unlocked, no program of the same user; while it is locked, everyone
/// without its password. The service decides this, not this library.
public struct SecretServiceProtector: Protector {
  /// Whether the service may ask a person to unlock the collection.
  @nonexhaustive
  public enum Prompting: Sendable {
    /// A locked collection is an error at once.
    case never
    /// The service shows its own prompt and gets two minutes.
    case allowed
  }

  let service: SecretServiceCalls
  /// Where the witness files are; `nil` for none.
  private let witnessFolder: String?
  /// The same, if it is the standard directory.
  private var standard: StandardDirectory?
  private let witnessFile = WitnessFile()

  /// The Secret Service.
  public var kind: ProtectorKind { .secretService }

  /// The service on the session bus of this process, and witness files in the standard place.
  public static func standard(prompting: Prompting = .never) -> SecretServiceProtector {
    standard(prompting: prompting, patience: usualPatience)
  }

  package static func standard(prompting: Prompting, patience: Duration) -> SecretServiceProtector {
    let directory = try? FileProtector.standardDirectory()
    var standard = SecretServiceProtector(
      busAddress: nil, stateFolder: directory?.path, prompting: prompting, patience: patience)
    standard.standard = directory
    return standard
  }

  /// How long one call may take.
  package static let usualPatience = Duration.seconds(3)

  /// - Parameters:
  ///   - busAddress: The bus, as `unix:…`; `nil` for the session's own: `$DBUS_SESSION_BUS_ADDRESS`, else
  ///     `$XDG_RUNTIME_DIR/bus`.
  ///   - stateFolder: Where to remember how many commits a vault has had; `nil` for nowhere.
  public init(busAddress: String?, stateFolder: String?, prompting: Prompting = .never) {
    self.init(
      busAddress: busAddress, stateFolder: stateFolder, prompting: prompting, patience: Self.usualPatience,
      clock: nil)
  }

  /// - Parameters:
  ///   - patience: How long one call may take.
  ///   - clock: What tells the milliseconds of that; `nil`: the system.
  package init(
    busAddress: String?, stateFolder: String?, prompting: Prompting = .never,
    patience: Duration = Self.usualPatience, clock: (@Sendable () -> UInt64)? = nil
  ) {
    service = SecretServiceCalls(
      busAddress: busAddress, prompting: prompting, patience: patience,
      clock: clock.map(SecretServiceClock.init))
    witnessFolder = stateFolder
  }

  /// What the service holds for this vault. A locked default collection without a key of this vault counts as locked.
  public func probe(_ vault: VaultID) throws(VaultError) -> ProtectorState {
    let found: FoundItems
    do throws(VaultError) { found = try service.find(vault, key: nil, loads: false) } catch {
      switch error.code {
      case .deviceKeyLocked: return .locked
      default: return .unavailable(error)
      }
    }
    if found.isEmpty { return found.isDefaultLocked ? .locked : .absent }
    return found.allAreLocked ? .locked : .present
  }

  /// Reads the key. Of several items with the key's id, it takes the one that holds the key.
  ///
  /// A damaged answer is read again in another session, because the session itself may have been damaged.
  public func loadKey(_ key: DeviceKeyID, of vault: VaultID) throws(VaultError) -> DeviceKey {
    try standard?.refuseFormerWitness(of: key, in: vault)
    for _ in 1..<SecretServiceCalls.mostSessions {
      do throws(VaultError) { return try loadKeyOnce(key, of: vault) } catch {
        guard error.code == .deviceKeyDamaged else { throw error }
      }
    }
    return try loadKeyOnce(key, of: vault)
  }

  private func loadKeyOnce(_ key: DeviceKeyID, of vault: VaultID) throws(VaultError) -> DeviceKey {
    let found = try service.find(vault, key: key, loads: true)
    var fault: VaultError?
    for index in 0..<found.count where !found.isLocked(index) {
      do throws(VaultError) {
        let held = try found.key(index)
        if held.id == key { return held }
        fault = fault ?? Self.wrong
      } catch {
        fault = fault ?? error
      }
    }
    if found.hasLocked || (found.isEmpty && found.isDefaultLocked) { throw SecretServiceCalls.locked }
    if fault == nil, try service.hasFormer(key, of: vault) { throw Self.former(key, of: vault) }
    throw fault ?? Self.absent
  }

  /// Makes a new item, reads it back over another connection and compares.
  public func storeKey(_ key: borrowing DeviceKey, of vault: VaultID) throws(VaultError) {
    makeWitnessFolder(vault)
    do throws(VaultError) {
      try service.create(key, of: vault)
      guard try loadKey(key.id, of: vault).isEqual(to: key) else {
        throw VaultError(
          .deviceKeyDamaged, "the Secret Service gave another device key back than it was given",
          hint: .keepKeyInFile)
      }
    } catch {
      // No vault names the key yet. A key that cannot be removed now opens nothing.
      try? deleteKey(key.id, of: vault)
      throw error
    }
  }

  /// Removes every unlocked item that holds this key; one that holds something else stays.
  public func deleteKey(_ key: DeviceKeyID, of vault: VaultID) throws(VaultError) {
    let found = try service.find(vault, key: key, loads: true)
    for index in 0..<found.count where !found.isLocked(index) {
      guard let held = try? found.key(index), held.id == key else { continue }
      try service.delete(found.path(index))
    }
    witness(of: key, in: vault)?.remove()
    if found.hasLocked { throw SecretServiceCalls.locked }
  }

  /// The ids of the keys that the unlocked items of this vault name.
  public func keys(of vault: VaultID) throws(VaultError) -> [DeviceKeyID] {
    let found = try service.find(vault, key: nil, loads: false)
    var keys: [DeviceKeyID] = []
    for index in 0..<found.count {
      if let key = found.keyID(index), !keys.contains(key) { keys.append(key) }
    }
    return keys
  }

  /// The same lock as for key files in that directory.
  public func lock(_ vault: VaultID) throws(VaultError) -> ProtectorLock? {
    guard let witnessFolder else { return nil }
    return try FileProtector(folder: witnessFolder).lock(vault)
  }

  /// Writes the commit to a file: the service would rewrite its whole collection for each commit.
  public func noteCommit(_ commit: SeenCommit, under key: DeviceKeyID, of vault: VaultID) {
    witnessFile.note(commit, under: key, of: vault) {
      makeWitnessFolder(vault)
      return witness(of: key, in: vault)
    }
  }

  /// Reads the witness; `nil` if there is none, or if it is for another key.
  public func seenCommit(under key: DeviceKeyID, of vault: VaultID) -> SeenCommit? {
    witnessFile.seen(under: key, of: vault) { witness(of: key, in: vault) }
  }

  /// The path of the witness; `nil` where no file can be made for it.
  package func placeOfWitness(of key: DeviceKeyID, in vault: VaultID) -> String? {
    guard let path = witness(of: key, in: vault)?.path else { return nil }
    return KeyWitness.isThere(path) || KeyWitness.canBeMade(path) ? path : nil
  }

  /// The same name as beside a key file, so that there is one place to look.
  private func witness(of key: DeviceKeyID, in vault: VaultID) -> KeyWitness? {
    guard let witnessFolder else { return nil }
    let name = FileProtector(folder: witnessFolder).path(of: key, vault)
    return KeyWitness(path: name + ".seen", key: key)
  }

  private func makeWitnessFolder(_ vault: VaultID) {
    guard let witnessFolder else { return }
    try? FileProtector.makeFolders(above: witnessFolder + "/" + vault.hexadecimal + "/key")
  }

  private static var wrong: VaultError {
    VaultError(
      .deviceKeyWrong, "the device key in the Secret Service is not the one of this vault",
      hint: .putRightKeyBack)
  }

  private static var absent: VaultError {
    VaultError(
      .deviceKeyAbsent, "the device key is absent: the Secret Service has no item of it",
      hint: .openKeyCollection)
  }

  /// The key is there, where no version since the first release looks.
  private static func former(_ key: DeviceKeyID, of vault: VaultID) -> VaultError {
    let words = "vault-id \(vault.hexadecimal) key-id \(key.hexadecimal)"
    return VaultError(
      .deviceKeyUnavailable,
      "the device key is in the Secret Service under its former name, vault.DeviceKey; copy it: secret-tool lookup xdg:schema "
        + "vault.DeviceKey \(words) | secret-tool store -l 'Device key' xdg:schema vaultctl.DeviceKey \(words)"
    )
  }

  /// The error when a person must unlock the keyring first.
  package static var locked: VaultError { SecretServiceCalls.locked }
}
