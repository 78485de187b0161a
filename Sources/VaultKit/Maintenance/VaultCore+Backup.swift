import Glibc
import SealedStorage
import VaultFormat
import VaultKeys
package import PasswordDerivation
import SecretMemory
import TextPreparation
import VaultCrypto
import VaultStorage

extension VaultCore {
  /// Writes a backup: a vault that a passphrase opens, without this-device-only items, tokens, consents, transactions
  /// and the log.
  ///
  /// Where a passcode is set, the vault must be unlocked: a backup is a copy in which a person with its passphrase may try
  /// passcodes without the limit of this vault. Items that need the passcode need it in the backup too. The file can be on any file
  /// system. It appears complete, after it was opened once with the passphrase and verified. While the keys are being
  /// rotated, the backup has both generations, and a vault restored from it continues the rotation.
  /// - Parameters:
  ///   - path: A path that does not exist yet, in a directory that does.
  ///   - parameters: Argon2id parameters, at least 256 MiB for the real ones.
  ///   - publishing: Called directly before the file gets its name. If it throws, no file is made.
  /// - Throws: ``VaultError/Code/locked``, ``VaultError/Code/vaultExists``, ``VaultError/Code/sideFile``, ``VaultError/Code/io``.
  package func backUp(
    to path: String, passphrase: consuming Passcode, parameters: Argon2id.Parameters? = nil,
    publishing: () throws(VaultError) -> Void = {},
    progress: (VerifyProgress) throws(VaultError) -> Void = { _ in }
  ) throws(VaultError) -> BackupReport {
    // Before the derivation, which takes long; and again in the transaction that copies.
    let transaction = try beginReading()
    try transaction.permitBackup()
    transaction.end()
    if let refusal = try VaultNames.refusal(ofSideFile: path, exists: VaultNames.exists) { throw refusal }
    guard try !VaultNames.exists(path) else { throw VaultError(.alreadyExists, at: path) }
    let file: NewPrivateFile
    do throws(NewPrivateFile.Failure) { file = try NewPrivateFile(path) } catch { throw VaultError(error) }
    var report = try backedUp(
      in: file.descriptor, named: path, passphrase: passphrase, parameters: parameters, progress: progress
    ) { refuseLockedMeanwhile throws(VaultError) in
      try file.finish(
        publishing: { () throws(VaultError) in
          try publishing()
          try refuseLockedMeanwhile()
        }, failing: VaultError.init)
    }
    report.isOpenToOthers = file.isOpenToOthers
    try log(&report)
    return report
  }

  /// The same into a pipe, or wherever `write` writes it: after the backup was verified.
  ///
  /// - Parameter write: Called with each part in turn.
  /// - Throws: As ``backUp(to:passphrase:parameters:publishing:progress:)``, and what `write` throws.
  package func backUp(
    passphrase: consuming Passcode, parameters: Argon2id.Parameters? = nil,
    progress: (VerifyProgress) throws(VaultError) -> Void = { _ in },
    writing write: (ArraySlice<UInt8>) throws(VaultError) -> Void
  ) throws(VaultError) -> BackupReport {
    let transaction = try beginReading()
    try transaction.permitBackup()
    transaction.end()
    let scratch: Int32
    do throws(StorageError) { scratch = try ScratchFile.make(in: ScratchFile.folders(for: byteCount)) } catch
    {
      throw VaultError(error)
    }
    defer { close(scratch) }
    var report = try backedUp(
      in: scratch, named: "-", passphrase: passphrase, parameters: parameters, progress: progress
    ) { refuseLockedMeanwhile throws(VaultError) in try refuseLockedMeanwhile() }
    try ScratchFile.read(scratch, write)
    try log(&report)
    return report
  }

  /// Writes and verifies a backup in an empty file.
  ///
  /// - Parameter finish: Called last within the transaction that copies, with a call that throws if the vault was locked meanwhile.
  private func backedUp(
    in file: Int32, named path: String, passphrase: consuming Passcode, parameters: Argon2id.Parameters?,
    progress: (VerifyProgress) throws(VaultError) -> Void,
    finish: (_ refusingLockedMeanwhile: () throws(VaultError) -> Void) throws(VaultError) -> Void
  ) throws(VaultError) -> BackupReport {
    let standard = environment.bounds == .standard ? .backup : environment.parameters
    let derivation = try KeyDerivation.fresh(parameters ?? standard, random: environment.random)
    let key = HKDF.derive(
      from: try derivation.derive(
        from: passphrase.typed.prepared.bytes, as: .passphrase, in: environment),
      label: Labels.passphrase)
    var report = BackupReport()
    var transaction = try beginReading()
    try transaction.permitBackup()
    let refuseLockedMeanwhile = transaction.store.refusingLockedMeanwhile
    let rows = try transaction.store.writeBackup(
      in: file, named: path, key: key, derivation: derivation, report: &report, progress: progress)
    try Self.verify(rows, named: path, key: key, environment: environment)
    try finish(refuseLockedMeanwhile)
    transaction.end()
    return report
  }

  /// How many bytes the vault has, and so at most about as many as a backup.
  private var byteCount: Int {
    var about = stat()
    return unsafe stat(withStore { $0.rows.path }, &about) == 0 ? Int(about.st_size) : 0
  }

  private func log(_ report: inout BackupReport) throws(VaultError) {
    report.isLogged = try logIfWritable(
      AuditNote(operation: .backedUp, detail: "\(report.items) items"))
  }

  private static func verify(
    _ rows: consuming VaultRows, named path: String, key: borrowing SecretBytes, environment: VaultEnvironment
  ) throws(VaultError) {
    do throws(VaultError) {
      var store = try opened(rows, named: path, environment: environment) {
        (header, slots, derivation) throws(VaultError) in
        try KeyRing(header: header, slots: slots, passphrase: key, derivation, environment: environment)
      }
      let head = try store.head()
      try store.checkSum(head)
    } catch { throw error.inBackup(at: path) }
  }

  /// Opens a backup: checks its schema and mark, then calls `open` for the key ring.
  static func openBackup(
    _ backup: BackupFile, environment: VaultEnvironment,
    open: (HeaderRow, [SlotRow], KeyDerivation) throws(VaultError) -> KeyRing
  ) throws(VaultError) -> SealedStore {
    do throws(VaultError) {
      return try opened(backup.rows(), named: backup.path, environment: environment, open: open)
    } catch { throw error.inBackup(at: backup.path) }
  }

  private static func opened(
    _ rows: consuming VaultRows, named path: String, environment: VaultEnvironment,
    open: (HeaderRow, [SlotRow], KeyDerivation) throws(VaultError) -> KeyRing
  ) throws(VaultError) -> SealedStore {
    var rows = rows
    let row = try rows.header()
    let slots = try rows.slots()
    let header = try Header(decoding: row.body)
    try environment.refuseVaultOfTest(header)
    guard let derivation = header.backupDerivation else {
      throw VaultError(.malformed, "\(path) is a vault, not a backup", hint: .nameBackup)
    }
    let ring = try open(row, slots, derivation)
    var store = SealedStore(rows: rows, keys: ring, environment: environment)
    // The header and slots of one backup together with the rows of another would restore an old passcode.
    let head = try store.head()
    try store.keys.check(head)
    let log = try store.checkLog(head)
    if let problem = log.problem ?? log.unreadable.first?.error.message {
      throw VaultError(
        .damaged, "the log of the backup is not that of a backup: \(problem)", hint: .useAnotherBackup)
    }
    return store
  }

  /// A vault on a full disk must have a way to another one.
  ///
  /// - Returns: Whether the vault could be written.
  private func logIfWritable(_ note: AuditNote) throws(VaultError) -> Bool {
    guard !isReadOnly else { return false }
    do throws(VaultError) {
      var transaction = try beginWriting()
      try transaction.log(note)
      try transaction.commit()
      return true
    } catch {
      guard error.advice == .freeSpace else { throw error }
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
    in file: Int32, named path: String, key: borrowing SecretBytes, derivation: KeyDerivation,
    report: inout BackupReport, progress: (VerifyProgress) throws(VaultError) -> Void
  ) throws(VaultError) -> VaultRows {
    let change = try backupKeys(under: key, derivation: derivation)
    var copy = VaultCopy(head: try head().forBackup(), change: change)
    let backup = try VaultRows.create(backupIn: file, named: path) { rows throws(VaultError) in
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
    return backup
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
    change.header.makeBackup(made: now, derivation)
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
    let rules = kind.rules
    // What its component would keep here, this program may not know, but for the life of it.
    return rules.policy.staysHere || !rules.isKnown && policy.hasLife ? .shortLived : nil
  }
}
