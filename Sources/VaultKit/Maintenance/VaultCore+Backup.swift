import SealedStorage
import VaultFormat
import VaultKeys
package import PasswordDerivation
import SecretMemory
import VaultCrypto
import VaultStorage

extension VaultCore {
  /// Writes a backup: a vault that a passphrase opens, without this-device-only items, tokens, consents, transactions
  /// and the log.
  ///
  /// Where a passcode is set, the vault must be unlocked: a backup is a copy in which a person with its passphrase may try
  /// passcodes without the limit of this vault. Items that need the passcode need it in the backup too. The file appears complete.
  /// Before this returns, it opens the backup once with the passphrase and verifies it. While the keys are being
  /// rotated, the backup has both generations, and a vault restored from it continues the rotation.
  /// - Parameters:
  ///   - path: A path that does not exist yet.
  ///   - parameters: Argon2id parameters, at least 256 MiB for the real ones.
  ///   - publishing: Called directly before the file gets its name. If it throws, no file is made.
  /// - Throws: ``VaultError/Code/locked``, ``VaultError/Code/vaultExists``, ``VaultError/Code/io``.
  package func backUp(
    to path: String, passphrase: consuming Passcode, parameters: Argon2id.Parameters? = nil,
    publishing: () throws(VaultError) -> Void = {},
    progress: (VerifyProgress) throws(VaultError) -> Void = { _ in }
  ) throws(VaultError) -> BackupReport {
    // Before the derivation, which takes long; and again in the transaction that copies.
    try reading { transaction throws(VaultError) in try transaction.permitBackup() }
    let standard = environment.bounds == .standard ? .backup : environment.parameters
    let derivation = try KeyDerivation.fresh(parameters ?? standard, random: environment.random)
    let key = HKDF.derive(
      from: try derivation.derive(from: passphrase.bytes, as: .passphrase, in: environment),
      label: Labels.passphrase)
    var report = BackupReport()
    try reading { transaction throws(VaultError) in
      try transaction.permitBackup()
      report = try transaction.store.writeBackup(
        to: path, key: key, derivation: derivation, publishing: publishing, progress: progress)
    }
    try Self.verifyBackup(at: path, key: key, environment: environment)
    report.isLogged = try logIfWritable(
      AuditNote(operation: AuditOperation(rawValue: 20), detail: "\(report.items) items"))
    return report
  }

  private static func verifyBackup(
    at path: String, key: borrowing SecretBytes, environment: VaultEnvironment
  ) throws(VaultError) {
    var store = try openBackup(at: path, environment: environment) {
      (header, slots, derivation) throws(VaultError) in
      try KeyRing(header: header, slots: slots, passphrase: key, derivation, environment: environment)
    }
    let head = try store.head()
    try store.checkSum(head)
  }

  /// Opens a backup: checks its place, schema and mark, then calls `open` for the key ring.
  static func openBackup(
    at path: String, environment: VaultEnvironment,
    open: (HeaderRow, [SlotRow], KeyDerivation) throws(VaultError) -> KeyRing
  ) throws(VaultError) -> SealedStore {
    do throws(VaultError) { return try openedBackup(at: path, environment: environment, open: open) } catch {
      throw error.inBackup(at: path)
    }
  }

  private static func openedBackup(
    at path: String, environment: VaultEnvironment,
    open: (HeaderRow, [SlotRow], KeyDerivation) throws(VaultError) -> KeyRing
  ) throws(VaultError) -> SealedStore {
    var rows = try VaultRows.open(backupAt: path)
    let row = try rows.header()
    let slots = try rows.slots()
    let header = try Header(decoding: row.body)
    try environment.refuseVaultOfTest(header)
    guard let derivation = try header.backupDerivation() else {
      throw VaultError(
        .malformed, "\(path) is a vault, not a backup", hint: Hint(.nameBackup, saying: "name a backup"))
    }
    let ring = try open(row, slots, derivation)
    var store = SealedStore(rows: rows, keys: ring, environment: environment)
    // The header and slots of one backup together with the rows of another would restore an old passcode.
    let head = try store.head()
    try store.keys.check(head)
    let log = try store.checkLog(head)
    if let problem = log.problem ?? log.unreadable.first?.error.message {
      throw VaultError(
        .damaged, "the log of the backup is not that of a backup: \(problem)", hint: "use another backup")
    }
    return store
  }

  /// A vault on a full disk must have a way to another one.
  ///
  /// - Returns: Whether the vault could be written.
  private func logIfWritable(_ note: AuditNote) throws(VaultError) -> Bool {
    guard !isReadOnly else { return false }
    do throws(VaultError) {
      try writing { transaction throws(VaultError) in try transaction.log(note) }
      return true
    } catch {
      guard error.advice?.action == .freeSpace else { throw error }
      return false
    }
  }
}

extension ReadTransaction {
  /// - Throws: ``VaultError/Code/locked`` where a passcode is set and the vault is locked.
  fileprivate func permitBackup() throws(VaultError) {
    guard store.keys.isUnlocked else { throw Gate.locked(AccessControl(), keys: store.keys) }
  }
}

extension Argon2id.Parameters {
  /// Costs for a passphrase whose file may be stored anywhere: 256 MiB.
  package static let backup = Argon2id.Parameters(memoryKiB: 256 << 10, iterations: 3, parallelism: 4)
}

extension SealedStore {
  fileprivate mutating func writeBackup(
    to path: String, key: borrowing SecretBytes, derivation: KeyDerivation,
    publishing: () throws(VaultError) -> Void, progress: (VerifyProgress) throws(VaultError) -> Void
  ) throws(VaultError) -> BackupReport {
    let change = try backupKeys(under: key, derivation: derivation)
    var copy = VaultCopy(head: try head().forBackup(), change: change)
    var report = BackupReport()
    let refuseLockedMeanwhile = refusingLockedMeanwhile
    func refuseUnwanted() throws(VaultError) {
      try publishing()
      try refuseLockedMeanwhile()
    }
    _ = try VaultRows.create(at: path, publishing: refuseUnwanted) { rows throws(VaultError) in
      try copy.writeKeys(change, to: &rows)
      let leaveOut = { (id: ItemID, error: VaultError) in
        report.leftOut.append((id, nil, error.isNewerVersion ? .newerVersion : .damaged))
      }
      let behind = try copy.copyItems(
        from: &self, to: &rows, progress, unreadable: leaveOut, damaged: { report.damaged.append($0) }
      ) { item throws(VaultError) in
        guard let reason = item.reasonToStay else { return true }
        report.leftOut.append((item.id, item.name, reason))
        return false
      }
      report.behindDamagedPIN = try items(behind)
      try copy.setState(try backupState(&report), row: 0, in: &rows)
      try copy.beginSegment(in: &rows)
      try copy.writeHead(to: &rows, vault: vault, environment: environment)
    }
    report.items = Int(clamping: copy.head.itemCount)
    return report
  }

  /// The vault's own state, or a new one if it is damaged.
  private mutating func backupState(_ report: inout BackupReport) throws(VaultError) -> StateRow {
    do throws(VaultError) { return try vaultState().row } catch {
      guard error.code == .damaged else { throw error }
      report.isStateRenewed = true
      return try keys.current.sealState(
        VaultState().bytes, of: ItemID.zero.stored, revision: 1, in: vault, random: environment.random)
    }
  }

  private func backupKeys(under key: borrowing SecretBytes, derivation: KeyDerivation) throws(VaultError)
    -> KeyChange
  {
    var change = keyChange
    change.slots.removeAll { slot in
      slot.kind == SlotKind.root.rawValue || slot.kind == SlotKind.deviceRoot.rawValue
        || SlotAddress(slot)?.isThisDeviceOnly ?? true
    }
    change.header.replacedKeys = []
    change.header.setBackup(made: now, derivation)
    for keys in change.generations {
      let address = SlotAddress(.root, generation: keys.generation, opener: .passphrase)
      change.put(address, try change.seal.seal(keys.root, at: address, under: key, derivation: derivation))
    }
    return change
  }
}

extension Item {
  /// Why an item never leaves this device, or `nil`.
  package var reasonToStay: BackupReport.Reason? {
    if access.thisDeviceOnly { return .thisDeviceOnly }
    if [.cardToken, .consent, .transaction].contains(kind) { return .shortLived }
    return nil
  }
}
