/// Why an operation on the vault file failed. No case carries content of the file.
package enum StorageError: Error, Equatable, Sendable {
  /// There is no file at the path. None was made.
  case missing
  /// There is something at the path where a vault was to be made.
  case alreadyExists
  /// There is something at this path, which would belong to the vault that was to be made.
  case existsBeside(String)
  /// The name that was given is that of a file that belongs to another one.
  case nameOfSideFile(String, owner: String)
  /// The file is not a vault, or something other than SQLite has changed it.
  case damaged(Damage)
  /// A later version of the program made the file.
  case newerFormat(version: Int32)
  /// The path cannot be trusted with a vault.
  case refused(Refusal)
  /// The file at this path beside the vault, such as `-wal`, cannot be trusted with a part of it.
  case refusedBeside(Refusal, path: String)
  /// A unique value is taken. The row was not written, and the transaction continues.
  case duplicate(UniqueColumn)
  /// The disk, or the quota, is full. The transaction is rolled back.
  case full
  /// A system call failed. The transaction is rolled back.
  case io(code: Int32, errno: Int32)
  /// A COMMIT failed, and all of it may have been written to the log. It is not visible now, but may appear after a
  /// crash.
  case unconfirmed(code: Int32, errno: Int32)
  /// The path no longer leads to the open file, or the file has a second name. The transaction is rolled back.
  case moved(String)
  /// The file at this path beside the vault, `-wal` or `-shm`, is not the one that is open. The transaction is rolled back.
  case sideFile(String)
  /// Other processes kept the file locked during the whole waiting time.
  case busy
  /// The medium, the directory or the connection does not allow writing.
  case readOnly
  /// The system did not allow opening the file or its directory.
  case cannotOpen(errno: Int32)
  /// A value is longer than ``Store/mostBytes``, or a number is greater than 2^63 − 1.
  case tooLarge
  /// The store was opened before `fork` and is used after it, or a child opens a store while its parent had one
  /// open at the `fork`. Only the process that opened a store may use it. Such a child must `exec` first.
  case usedAfterFork
  /// The SQLite library is older than ``SQLiteLibrary/oldest``.
  case oldLibrary(version: String)
  /// SQLite returned a code that this program does not cause.
  case unexpected(code: Int32)

  package enum Damage: Equatable, Sendable {
    /// The file is empty.
    case empty
    /// The file is not an SQLite database, or its first page is destroyed.
    case notADatabase
    /// The file is a database of another application.
    case notAVault
    /// The schema is not that of the format.
    case schema
    /// A row is missing that every vault has, or a row holds a value of a wrong type or length.
    case row(Table)
    /// SQLite found an impossible page.
    case page
  }

  package enum Table: String, Equatable, Sendable, CaseIterable {
    case header, slot, head, item, material, state, blind, former, segment, audit
  }

  package enum UniqueColumn: Equatable, Sendable {
    case primaryKey, name, id, row
  }

  package enum Refusal: Equatable, Sendable {
    /// The path is a symbolic link. Links among the directories before it are followed.
    case symbolicLink
    case notARegularFile
    /// The file has a second name (a hard link). The files beside it, `-wal` and `-shm`, belong to one of the names
    /// only.
    case severalNames
    /// Another user owns the file, or a file that belongs to it (`-wal`, `-shm`).
    case foreignOwner
    /// The group or others may read or write the file. `mode` is the last nine bits of its mode.
    case openToOthers(mode: UInt32)
    case folderForeignOwner
    case folderWritableByOthers(mode: UInt32)
    /// A file system without reliable locks, by its name.
    case networkFileSystem(String)
    /// The path is empty, contains a NUL, or ends in a slash or a dot.
    case notAFileName
    /// A file in the place of a lock has contents of another kind.
    case notALock
    /// A file in the place of one that SQLite keeps beside the vault has contents of another kind.
    case notOfSQLite
  }
}

/// An error that a ``StorageError`` can become. Closures that a ``Store`` runs can then throw their own error.
package protocol StorageFailure: Error {
  init(_ error: StorageError)
  /// The same, while the vault at `path` is opened or made. The message names the path.
  init(_ error: StorageError, at path: String)
}

extension StorageFailure {
  package init(_ error: StorageError, at path: String) { self.init(error) }
}

extension StorageError: StorageFailure {
  package init(_ error: StorageError) { self = error }
}

extension StorageFailure {
  /// The result of `call`, whose error becomes one of this type.
  static func from<R: ~Copyable>(_ call: @autoclosure () throws(StorageError) -> R) throws(Self) -> R {
    do throws(StorageError) { return try call() } catch { throw Self(error) }
  }

  /// The same, while the vault at `path` is opened or made.
  static func from<R: ~Copyable>(
    _ call: @autoclosure () throws(StorageError) -> R, at path: String
  ) throws(Self) -> R {
    do throws(StorageError) { return try call() } catch { throw Self(error, at: path) }
  }
}
