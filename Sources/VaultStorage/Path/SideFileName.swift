import Glibc

/// The names of files that belong to another file. What is written under such a name is removed, replaced or read as something else
/// by the programs that use that other file.
///
/// | name | what it is |
/// |---|---|
/// | `FILE-wal`, `FILE-shm`, `FILE-journal` | what SQLite keeps beside a vault |
/// | `FILE.lock` | the lock of a process that makes FILE |
/// | `FILE.seen` | the witness beside a device key |
/// | `FILE.rotating` | the lock of a process that replaces the device key of FILE |
/// | `FILE.asking-ID` | the lock of a process that asks a server about the item ID of FILE |
/// | `FILE.before-restore` | a vault or a device key that a restore has replaced |
/// | `FILE.restoring`, `FILE.restoring-KEYID` | a vault that a restore makes beside FILE |
/// | `FILE.KEYID.new` | a device key that waits to replace the one in FILE |
/// | `.FILE.new`, `.FILE.unfinished` | FILE while it is made |
package enum SideFileName {
  /// The endings of the files that SQLite keeps beside a database file.
  package static let companions = ["-wal", "-shm", "-journal"]
  /// The ending of what a restore has replaced.
  package static let beforeRestore = ".before-restore"
  /// The ending of a vault that a restore makes, before the id of its key.
  package static let restoring = ".restoring"
  private static let besides = [".lock", ".seen", RotationLock.suffix, beforeRestore, restoring]

  /// The file that the file at a path belongs to, by the two names; `nil` for a name of its own.
  ///
  /// A draft belongs to its file whether that file exists or not: whoever makes the file removes the draft. The other names belong
  /// to a file that exists.
  ///
  /// - Parameter exists: Whether there is anything at a path.
  package static func owner<E: Error>(
    of path: String, exists: (String) throws(E) -> Bool
  ) throws(E) -> String? {
    let start = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path.utf8.index(after: $0) }
    let name = path[(start ?? path.startIndex)...]
    let folder = String(path[..<name.startIndex])
    let database = companions.lazy.compactMap { name.dropping(ending: $0) }.first
    if let file = made(by: database ?? name) { return folder + file }
    let owners = besides.lazy.compactMap { name.dropping(ending: $0) }
    for file in [
      database, owners.first, asking(of: name), replaced(by: name), restored(over: name),
    ].compactMap(\.self) {
      if isDeviceKey(file) { return folder + file }
      if try exists(folder + file) { return folder + file }
    }
    return nil
  }

  /// The same, by what the directory has.
  ///
  /// - Throws: ``StorageError/nameOfSideFile(_:owner:)`` for a name that belongs to another file.
  package static func refuse(_ path: String) throws(StorageError) {
    let owner = try owner(of: path) { path throws(StorageError) in
      var entry = stat()
      if unsafe lstat(path, &entry) == 0 { return true }
      guard errno == ENOENT || errno == ENOTDIR else { throw .cannotOpen(errno: errno) }
      return false
    }
    if let owner { throw .nameOfSideFile(path, owner: owner) }
  }

  /// The file whose draft has this name.
  private static func made(by name: Substring) -> Substring? {
    guard name.utf8.first == UInt8(ascii: ".") else { return nil }
    let bare = name.dropFirst()
    return [".new", ".unfinished"].lazy.compactMap { bare.dropping(ending: $0) }.first
  }

  /// The vault about whose item a process asks a server.
  private static func asking(of name: Substring) -> Substring? {
    guard let dash = name.utf8.lastIndex(of: UInt8(ascii: "-")), isIdentifier(name[dash...].dropFirst())
    else {
      return nil
    }
    return name[...dash].dropping(ending: ItemLock.suffix)
  }

  /// The file that a device key with this name is to replace.
  private static func replaced(by name: Substring) -> Substring? {
    guard let rest = name.dropping(ending: ".new"), let dot = rest.utf8.lastIndex(of: UInt8(ascii: ".")),
      isIdentifier(rest[dot...].dropFirst()), dot > rest.startIndex
    else { return nil }
    return rest[..<dot]
  }

  /// The file that a vault with this name is to replace. A restore removes the lock of that vault and what SQLite keeps beside it too.
  private static func restored(over name: Substring) -> Substring? {
    let vault = (companions + [".lock"]).lazy.compactMap { name.dropping(ending: $0) }.first ?? name
    guard let dash = vault.utf8.lastIndex(of: UInt8(ascii: "-")), isIdentifier(vault[dash...].dropFirst())
    else { return nil }
    return vault[..<dash].dropping(ending: restoring)
  }

  /// Whether a name is that of a device key in its directory. With a Secret Service the witness is there, and the key is not.
  private static func isDeviceKey(_ name: Substring) -> Bool {
    name.dropping(ending: ".key").map(isIdentifier) ?? false
  }

  private static func isIdentifier(_ text: Substring) -> Bool {
    text.utf8.count == 32 && text.utf8.allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
  }
}

extension Substring {
  /// What is before an ending, byte by byte; `nil` if it has another ending or nothing before it.
  fileprivate func dropping(ending: String) -> Substring? {
    guard utf8.count > ending.utf8.count, utf8.suffix(ending.utf8.count).elementsEqual(ending.utf8) else {
      return nil
    }
    return Substring(utf8.dropLast(ending.utf8.count))
  }
}
