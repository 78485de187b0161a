package import VaultFormat
import Glibc
import VaultStorage

/// The files that a restore makes and keeps beside a vault.
///
/// The new vault is made as `PATH.restoring-<id of its device key>`. It and the vault at PATH exchange their names in
/// one step; then what was at PATH becomes `PATH.before-restore`. So the name of a file always says which of the two
/// vaults it is: a vault at `.restoring-<id>` that names the key `<id>` is a new vault that was never used, and one
/// that names another key is the old vault.
package struct RestoreFiles: Sendable {
  package let path: String

  package init(path: String) { self.path = path }

  /// Where the old vault is kept.
  package var aside: String { path + Self.asideSuffix }

  /// Where a restore makes the new vault that this key opens.
  package func beside(_ key: DeviceKeyID) -> String { path + Self.besidePrefix + "-" + key.hexadecimal }

  /// A file of an unfinished restore, or a file with such a name.
  package struct Unfinished: Sendable {
    /// The file.
    package let path: String
    /// The key of the new vault, from the file's name; `nil` when the name has none.
    package let key: DeviceKeyID?
  }

  /// Every `.restoring` file that exists.
  package func unfinished() throws(VaultError) -> [Unfinished] {
    try names(beginningWith: fileName + Self.besidePrefix).compactMap { name in
      let rest = name.dropFirst(fileName.count + Self.besidePrefix.count)
      if rest.isEmpty { return Unfinished(path: folder + name, key: nil) }
      guard rest.count == 33, let key = Self.key(in: rest) else { return nil }
      return Unfinished(path: folder + name, key: key)
    }
  }

  /// A new vault that got no name, because the restore that made it was killed.
  package struct Unnamed: Sendable {
    package let path: String
    /// Its device key.
    package let key: DeviceKeyID
  }

  /// Every new vault that got no name. Its name begins with a dot, and ends in `.new`.
  package func unnamed() throws(VaultError) -> [Unnamed] {
    try names(beginningWith: "." + fileName + Self.besidePrefix).compactMap { name in
      let rest = name.dropFirst(1 + fileName.count + Self.besidePrefix.count)
      guard let key = Self.key(in: rest), rest.dropFirst(33) == ".new" else { return nil }
      return Unnamed(path: folder + name, key: key)
    }
  }

  /// Files that were never a vault under its own name: what a restore leaves if it is killed while it makes the new
  /// vault, and SQLite's files beside a removed vault.
  package func debris() throws(VaultError) -> [String] { try named().map { folder + $0.name } }

  /// Those with such a name that no restore left.
  package func foreignDebris() throws(VaultError) -> [String] {
    var foreign: [String] = []
    for file in try named() {
      do throws(StorageError) {
        if try NewVaultPlace.isForeign(file.name, beside: beside(file.key)) {
          foreign.append(folder + file.name)
        }
      } catch { throw VaultError(error) }
    }
    return foreign
  }

  private func named() throws(VaultError) -> [(name: String, key: DeviceKeyID)] {
    let temporary = try names(beginningWith: "." + fileName + Self.besidePrefix).compactMap { name in
      let rest = name.dropFirst(1 + fileName.count + Self.besidePrefix.count)
      let isDraft = ([""] + SideFileName.companions).contains { rest.dropFirst(33) == ".new" + $0 }
      return Self.key(in: rest).flatMap { isDraft ? (name, $0) : nil }
    }
    let names = try names(beginningWith: fileName + Self.besidePrefix)
    return temporary
      + names.compactMap { name in
        let rest = name.dropFirst(fileName.count + Self.besidePrefix.count)
        guard let key = Self.key(in: rest) else { return nil }
        if rest.dropFirst(33) == ".lock" { return (name, key) }
        let isAlone = !names.contains(String(name.prefix(fileName.count + Self.besidePrefix.count + 33)))
        return isAlone && SideFileName.companions.contains(String(rest.dropFirst(33))) ? (name, key) : nil
      }
  }

  /// The key in `-<id>…`, the text after `.restoring`.
  private static func key(in rest: Substring) -> DeviceKeyID? {
    guard rest.first == "-" else { return nil }
    return DeviceKeyID(hexadecimal: String(rest.dropFirst().prefix(32)))
  }

  /// The files that show, when there is no vault at the path, that there was one: what SQLite and a restore keep
  /// beside a vault.
  package func traces() throws(VaultError) -> [String] {
    let own = SideFileName.companions + [Self.asideSuffix, Self.besidePrefix]
    return try names(beginningWith: fileName).filter { name in
      let rest = name.dropFirst(fileName.count)
      return own.contains(String(rest)) || rest.hasPrefix(Self.besidePrefix + "-")
    }.map { folder + $0 }
  }

  /// Every file of a restore that exists.
  package func all() throws(VaultError) -> [String] {
    var entry = stat()
    let isKept = unsafe lstat(aside, &entry) == 0
    guard isKept || errno == ENOENT || errno == ENOTDIR else {
      throw FileProtector.failure("look at", path: aside)
    }
    return (isKept ? [aside] : []) + (try unfinished().map(\.path))
  }

  /// A file beside the vault that keeps a device key.
  package struct Keeper {
    package let file: String
    /// Whether the file is known to need the key; a file that cannot be read may need it.
    package let isReadable: Bool
  }

  /// The file beside the vault that names this key, or that may name it because it cannot be read.
  ///
  /// - Parameter other: A file that is not looked at.
  /// - Throws: ``VaultError/Code/io`` when the directory cannot be read: then any file may need the key.
  package func keeper(
    of key: DeviceKeyID, _ vault: VaultID, except other: String? = nil
  ) throws(VaultError) -> Keeper? {
    for file in try all() where file != other {
      guard let outline = try? VaultOutline(at: file) else {
        return Keeper(file: file, isReadable: false)
      }
      if outline.vault == vault, outline.deviceKey == key { return Keeper(file: file, isReadable: true) }
    }
    return nil
  }

  // MARK: Names

  private static let asideSuffix = SideFileName.beforeRestore
  private static let besidePrefix = SideFileName.restoring

  private var fileName: String { String(path.split(separator: "/").last ?? "") }
  /// The directory with its last slash; empty for the working directory.
  private var folder: String { String(path.dropLast(fileName.count)) }

  private func names(beginningWith prefix: String) throws(VaultError) -> [String] {
    try FileProtector.names(in: folder.isEmpty ? "." : folder, beginningWith: prefix)
  }
}
