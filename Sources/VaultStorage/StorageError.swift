/// What can go wrong between the vault and its file. Carries no content of the file.
package enum StorageError: Error, Equatable, Sendable {
  /// Nothing lies at the path. Nothing was made there.
  case missing
  /// Something lies at the path where a vault was to be made.
  case alreadyExists
  /// The file is no vault, or one that something else than SQLite has changed.
  case damaged(Damage)
  /// A later version of the program made the file.
  case newerFormat(version: Int32)
  /// The path cannot be trusted with a vault.
  case refused(Refusal)
  /// A unique value is taken. The row was not written, the transaction goes on.
  case duplicate(UniqueColumn)
  /// The disk, or the quota, is full. The transaction is rolled back.
  case full
  /// A system call failed. The transaction is rolled back.
  case io(code: Int32, errno: Int32)
  /// A COMMIT failed after all of it may have been written to the log: it is not visible now, but may appear after a
  /// crash.
  case unconfirmed(code: Int32, errno: Int32)
  /// The path no longer leads to the open file, or that file has a second name. The transaction is rolled back.
  case moved(String)
  /// Other processes kept the file locked for the whole of the waiting time.
  case busy
  /// The medium, the folder or the connection does not allow writing.
  case readOnly
  /// The system did not let us open the file or its folder.
  case cannotOpen(errno: Int32)
  /// A value is longer than the file may hold (``Store/mostBytes``), or a number greater than 2^63 − 1.
  case tooLarge
  /// The store was opened before `fork` and is used after it, or a store is opened in a child of a process that had
  /// one open then: only the process that opened it may use it, and such a child must `exec` first.
  case usedAfterFork
  /// The SQLite library is older than ``SQLiteLibrary/oldest``.
  case oldLibrary(version: String)
  /// SQLite answered with a code that this program does not provoke.
  case unexpected(code: Int32)

  package enum Damage: Equatable, Sendable {
    /// The file has no bytes.
    case empty
    /// The file is not an SQLite database, or its first page is destroyed.
    case notADatabase
    /// The file is a database of another application.
    case notAVault
    /// The schema is not the one of the format.
    case schema
    /// A row is missing that every vault has, or holds a value of a wrong type or length.
    case row(Table)
    /// SQLite found a page that cannot be.
    case page
  }

  package enum Table: String, Equatable, Sendable, CaseIterable {
    case header, slot, head, item, material, state, blind, segment, audit
  }

  package enum UniqueColumn: Equatable, Sendable {
    case primaryKey, name, id, row
  }

  package enum Refusal: Equatable, Sendable {
    /// The path names a symbolic link. Links among the folders before it are followed.
    case symbolicLink
    case notARegularFile
    /// The file has a second name (a hard link): the files beside it, `-wal` and `-shm`, belong to only one of the
    /// names.
    case severalNames
    /// Another user owns the file, or one that belongs to it (`-wal`, `-shm`).
    case foreignOwner
    /// Group or others may read or write the file. `mode` is its last nine bits.
    case openToOthers(mode: UInt32)
    case folderForeignOwner
    case folderWritableByOthers(mode: UInt32)
    /// A file system without dependable locks, by its name.
    case networkFileSystem(String)
    /// The path is empty, contains a NUL, or ends in a slash or a dot.
    case notAFileName
  }
}

/// An error that a ``StorageError`` can become, so that closures run by a ``Store`` throw their own.
package protocol StorageFailure: Error {
  init(_ error: StorageError)
  /// The same while the vault at `path` is opened or made; the message names the path.
  init(_ error: StorageError, at path: String)
}

extension StorageFailure {
  package init(_ error: StorageError, at path: String) { self.init(error) }
}

extension StorageError: StorageFailure {
  package init(_ error: StorageError) { self = error }
}
