import Glibc
package import VaultStorage

extension VaultError: StorageFailure {
  /// A failure of the store, with what to do next.
  package init(_ error: StorageError) { self.init(error, path: nil) }

  /// The same for an error while a vault is opened or made.
  package init(_ error: StorageError, at path: String) { self.init(error, path: path) }

  /// The same for a file that was named as a backup.
  package init(_ error: StorageError, backupAt path: String) { self.init(error, path: path, noun: "backup") }

  /// The same error of a file that was named as a backup: where it is damage, it says of which file, and advises another backup.
  package func inBackup(at path: String) -> VaultError {
    guard code == .damaged, advice != .useAnotherBackup, advice != .nameBackup else { return self }
    return VaultError(
      .damaged, "the backup \(path) is damaged: \(message)", hint: .useAnotherBackup, underlying: underlying)
  }

  /// An item has the same name.
  package static var sameName: VaultError { VaultError(.duplicate(.name)) }
  /// An item of the same kind has the same primary attributes.
  package static var sameAttributes: VaultError { VaultError(.duplicate(.primaryKey)) }
  /// Other processes kept the vault busy.
  package static var otherProcesses: VaultError { VaultError(.busy) }

  /// - Parameters:
  ///   - path: The vault's path, when opening or making the vault failed.
  ///   - noun: What the file should be, a vault or a backup.
  package init(_ error: StorageError, path: String?, noun: String = "vault") {
    let isBackup = noun != "vault"
    let vault = "the \(noun)" + (path.map { " at \($0)" } ?? "")
    let file = "the \(noun)\(isBackup ? "" : " file")" + (path.map { " \($0)" } ?? "")
    self =
      switch error {
      case .missing where isBackup:
        VaultError(.vaultMissing, "there is no backup at \(path ?? "that path")", hint: .nameBackup)
      case .missing:
        VaultError(.vaultMissing, "there is no vault at \(path ?? "that path")", hint: .createVault)
      case .alreadyExists:
        VaultError(
          .vaultExists, "there is something at \(path ?? "that path") already", hint: .nameOtherVault)
      case .existsBeside(let beside):
        VaultError(
          .vaultExists, "there is something at \(beside), which would belong to \(path ?? "the new file")",
          hint: "move it away, or choose another path")
      case .nameOfSideFile(let path, let owner):
        VaultError(
          .sideFile, "\(path) is the name of a file that belongs to \(owner)",
          hint: "name another file; nothing was written")
      case .damaged(let damage): Self.damaged(damage, file: file, isBackup: isBackup)
      case .newerFormat:
        VaultError(
          .newerFormat, "\(vault) was written by a newer version of this program",
          hint: "update this program")
      case .refused(let refusal): Self.refused(refusal, file: file, path: path, noun: noun)
      case .refusedBeside(let refusal, let path): Self.refusedBeside(refusal, path: path)
      case .duplicate(.name): VaultError(.duplicateItem, "an item with that name exists already")
      case .duplicate(.row), .duplicate(.id):
        VaultError(
          .damaged, "the vault's rows are not those that its head row counts", hint: .verifyAndRestore)
      case .duplicate:
        VaultError(
          .duplicateItem,
          "an item of that kind with the same identifying attributes, such as service and account, exists already"
        )
      case .full:
        // A call can have made other changes before this one.
        VaultError(.io, "the disk is full; what was to be written was not stored", hint: .freeSpace)
      case .io(let code, let number):
        VaultError(
          .io,
          "reading or writing \(vault) failed\(Self.reason(number)) (SQLite \(code), errno \(number))",
          hint: number == EIO
            ? "the disk or its connection fails: see the kernel's log" : Self.deniedCall(number),
          underlying: number)
      case .unconfirmed(let code, let number):
        VaultError(
          .unconfirmed,
          "the disk failed while the change was being stored: it may have been stored "
            + "(SQLite \(code), errno \(number)\(Self.reason(number)))",
          hint: "check whether the change is there before you repeat it; it can still appear after a crash",
          underlying: number)
      case .moved(let path):
        VaultError(
          .io,
          "the vault at \(path) was moved, replaced or given a second name while it was open; nothing was written",
          hint: "open the vault again at the path where it is now")
      case .sideFile(let path):
        VaultError(
          .io, "\(path) was removed or replaced while a program had the vault open; nothing was written",
          hint:
            "end every program that has the vault open, then try again; nothing may touch that file meanwhile"
        )
      case .busy:
        VaultError(.busy, "other processes kept \(vault) busy for too long", hint: "try again")
      case .readOnly:
        VaultError(.readOnly, "\(vault) is read-only here", hint: "check the permissions of its folder")
      case .cannotOpen(let number):
        VaultError(
          .io, "\(vault) cannot be opened\(Self.reason(number))",
          hint: Self.deniedCall(number) ?? "check the path and its permissions",
          underlying: number)
      case .tooLarge: VaultError(.malformed, "a value is too large for the vault")
      case .usedAfterFork:
        VaultError(.io, "the vault was opened before a fork; open it again in the child process")
      case .oldLibrary(let version):
        VaultError(
          .unsupported,
          "the SQLite library of this system is \(version); \(SQLiteLibrary.text(of: SQLiteLibrary.oldest)) or later is needed",
          hint: "update the system's SQLite package")
      case .unexpected(let code): VaultError(.io, "the database failed (SQLite \(code))", underlying: code)
      }
  }

  /// What an error number means, for the end of a message.
  private static func reason(_ number: Int32) -> String {
    number == 0 ? "" : unsafe ": \(String(cString: strerror(number)))"
  }

  /// The advice where the system may not allow the call itself; `nil` for another error.
  package static func deniedCall(_ number: Int32) -> Hint? {
    guard number == ENOSYS || number == EPERM else { return nil }
    return
      "check the permissions; in a container or service, its filter of system calls (seccomp) may deny a call, which doctor names"
  }

  private static func damaged(_ damage: StorageError.Damage, file: String, isBackup: Bool) -> VaultError {
    let what =
      switch damage {
      case .empty: "\(file) is empty"
      case .notADatabase, .notAVault: "\(file) is not a \(isBackup ? "backup file" : "vault")"
      case .schema: "the structure of \(file) was altered"
      case .row(let table): "\(file) is damaged (table \(table.rawValue))"
      case .page: "\(file) is damaged"
      }
    let isOther = damage == .notADatabase || damage == .notAVault
    let hint: Hint =
      switch (isOther, isBackup) {
      case (true, true): .nameBackup
      case (false, true): .useAnotherBackup
      case (true, false): .nameVault
      case (false, false): "restore it from a backup"
      }
    return VaultError(.damaged, what, hint: hint)
  }

  private static func refused(
    _ refusal: StorageError.Refusal, file: String, path: String?, noun: String = "vault"
  ) -> VaultError {
    let folder = path.map { "the folder of \($0)" } ?? "the \(noun)'s folder"
    let (what, hint): (String, Hint) =
      switch refusal {
      case .symbolicLink: ("\(file) is a symbolic link", "name the file itself")
      case .notARegularFile: ("\(file) is not a file", "name a file")
      case .severalNames:
        (
          "\(file) has a second name (a hard link)",
          Hint(
            "remove the other name: 'find FOLDER -samefile \(noun.uppercased())' shows both; "
              + "if it ends in '.before-restore', run the restore again")
        )
      case .foreignOwner: ("\(file) belongs to another user", "use a \(noun) of your own")
      case .openToOthers: ("\(file) is open to others", adviceForOpenFile(path, noun: noun))
      case .folderForeignOwner: ("\(folder) belongs to another user", "use a folder of your own")
      case .folderWritableByOthers:
        ("\(folder) is writable by others", "keep the \(noun) in a folder of your own")
      case .networkFileSystem(let name):
        ("\(file) is on \(name), which has no dependable locks", "move it to a local disk")
      case .notAFileName:
        (
          "\(path.map { "'\($0)'" } ?? "that") is not a file name for a \(noun)",
          noun == "vault" ? .nameVaultFile : .nameBackup
        )
      case .notALock: ("\(file) is not a lock", "move it away")
      case .notOfSQLite: ("\(file) is not what SQLite keeps there", "move it away")
      }
    return VaultError(.io, what, hint: hint)
  }

  /// SQLite makes its files again: only one that it did not make is refused here.
  private static func refusedBeside(_ refusal: StorageError.Refusal, path: String) -> VaultError {
    let file = "the file \(path) beside the vault"
    let hint: Hint? =
      switch refusal {
      case .symbolicLink:
        "if the link leads to the log of this vault, put that file in its place; else remove the link"
      case .openToOthers: adviceForOpenFile(path)
      case .severalNames: "remove the other name: 'find FOLDER -samefile \(path)' shows both"
      default: "no program of the vault made it: move it away"
      }
    let error = refused(refusal, file: file, path: path)
    return VaultError(error.code, error.message, hint: hint)
  }

  private static func adviceForOpenFile(_ path: String?, noun: String = "vault") -> Hint {
    if let path, OwnFile.isOurs(path) { return "chmod 600 \(path)" }
    return .moveVaultHome
  }
}
