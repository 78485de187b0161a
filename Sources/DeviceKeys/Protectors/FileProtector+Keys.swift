public import VaultFormat
import Glibc

/// Which keys exist.
extension FileProtector {
  /// The ids of all key files of this vault. For a named file: the key in the file, and the keys that wait beside it.
  public func keys(of vault: VaultID) throws(VaultError) -> [DeviceKeyID] {
    let kept = try named(of: vault).compactMap(\.key)
    guard case .file(let file) = place, let id = (try? read(file))?.id else { return kept }
    return [id] + kept.filter { $0 != id }
  }

  /// Entries with the name of a key of this vault in which the protector never looks for a key: the id is in capital
  /// letters, or the entry is not a regular file.
  package func lookalikes(of vault: VaultID) throws(VaultError) -> [String] {
    try named(of: vault).filter { $0.key == nil }.map(\.path)
  }

  /// Something with the name of a key file.
  private struct Named {
    let path: String
    /// `nil` when no key is looked for there.
    let key: DeviceKeyID?
  }

  private func named(of vault: VaultID) throws(VaultError) -> [Named] {
    switch place {
    case .folder(let folder):
      return try Self.named(in: folder + "/" + vault.hexadecimal + "/", prefix: "", suffix: ".key")
    case .file(let file):
      let name = String(file[(file.lastIndex(of: "/").map(file.index(after:)) ?? file.startIndex)...])
      return try Self.named(in: String(file.dropLast(name.count)), prefix: name + ".", suffix: ".new")
    }
  }

  /// - Parameters:
  ///   - folder: The directory with its last slash; empty for the working directory.
  ///   - prefix: The part of a key's name before the id.
  ///   - suffix: The part after the id.
  private static func named(
    in folder: String, prefix: String, suffix: String
  ) throws(VaultError) -> [Named] {
    let names = try names(in: folder.isEmpty ? "." : folder, beginningWith: prefix)
    return names.compactMap { name in
      guard name.hasSuffix(suffix), name.count >= prefix.count + suffix.count else { return nil }
      let text = String(name.dropFirst(prefix.count).dropLast(suffix.count))
      guard let id = DeviceKeyID(hexadecimal: text) else { return nil }
      let isKey = id.hexadecimal == text && !isOtherThanFile(folder + name)
      return Named(path: folder + name, key: isKey ? id : nil)
    }
  }

  /// Whether the entry is known to be something other than a regular file.
  private static func isOtherThanFile(_ path: String) -> Bool {
    var entry = stat()
    return unsafe lstat(path, &entry) == 0 && entry.st_mode & S_IFMT != S_IFREG
  }

  /// The key in the named file; `nil` if no key can be read, and for a directory of keys.
  package var namedKey: DeviceKeyID? {
    guard case .file(let file) = place, let present = try? read(file) else { return nil }
    return present.id
  }

  /// The key that a restore has put beside the named file; `nil` if no key can be read, and for a directory of keys.
  package var keyBeforeRestore: DeviceKeyID? {
    guard let aside = pathBeforeRestore, let held = try? read(aside) else { return nil }
    return held.id
  }

  /// The error of a command that finds something in the place of its new key. `init` never takes over an existing key: it
  /// cannot know which vaults need the key, and two vaults with one key lose it together.
  package var taken: VaultError? {
    guard case .file(let file) = place else { return nil }
    guard namedKey != nil else {
      return VaultError(
        .vaultExists, "there is something already in the place of the device key: \(file)",
        hint: .nameOtherKeyFile)
    }
    return VaultError(
      .vaultExists,
      "there is a device key already: \(file); which vault needs it cannot be told from here",
      hint: .nameOtherKeyFileOrRemove)
  }

  /// The directories of keys, one for each vault id, and the number of keys in each. Empty for a named file. The vault
  /// is `nil` for an id in capital letters, because no vault has its keys there.
  package func foldersOfKeys() throws(VaultError) -> [(vault: VaultID?, path: String, count: Int)] {
    guard case .folder(let folder) = place else { return [] }
    var found: [(vault: VaultID?, path: String, count: Int)] = []
    for name in try Self.names(in: folder) {
      guard let vault = VaultID(hexadecimal: name) else { continue }
      let path = folder + "/" + name
      let keys = try Self.named(in: path + "/", prefix: "", suffix: ".key")
      found.append((vault.hexadecimal == name ? vault : nil, path, keys.count))
    }
    return found
  }

  /// The file, at or beside the named one, that really holds a key; `nil` if no file does, and for a directory of keys.
  package func holder(of key: DeviceKeyID, _ vault: VaultID) -> String? {
    guard case .file(let file) = place, let aside = pathBeforeRestore else { return nil }
    return [file, presentPath(of: key, vault), aside].first { holds($0, key: key) }
  }

  /// Whether the file holds this key.
  package func holds(_ path: String, key: DeviceKeyID) -> Bool {
    guard let held = try? read(path) else { return false }
    return held.id == key
  }

  /// A lock on the directory of the keys.
  public func lock(_ vault: VaultID) throws(VaultError) -> ProtectorLock? {
    let key: String
    switch place {
    case .folder(let folder): key = folder + "/" + vault.hexadecimal + "/key"
    case .file(let file): key = file
    }
    try Self.makeFolders(above: key)
    return try ProtectorLock(folder: key.contains("/") ? String(key[...key.lastIndex(of: "/")!]) : ".")
  }

  /// The lock on the directory of a named file; `nil` if the lock is held already, and for a directory of keys.
  package func lockAtOnce() -> ProtectorLock? {
    guard case .file(let file) = place else { return nil }
    return ProtectorLock(atOnce: file.lastIndex(of: "/").map { String(file[...$0]) } ?? ".")
  }

  /// The sorted names in a directory that begin with `prefix`; none if the directory does not exist.
  package static func names(in folder: String, beginningWith prefix: String = "") throws(VaultError)
    -> [String]
  {
    guard let directory = unsafe opendir(folder) else {
      if errno == ENOENT || errno == ENOTDIR { return [] }
      throw Self.failure("list", path: folder)
    }
    defer { unsafe closedir(directory) }
    var names: [String] = []
    errno = 0
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) {
        unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name.hasPrefix(prefix) { names.append(name) }
      errno = 0
    }
    // A directory that was read only in part may have more names.
    guard errno == 0 else { throw Self.failure("list", path: folder) }
    return names.sorted()
  }
}
