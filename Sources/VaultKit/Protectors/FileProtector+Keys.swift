import Glibc

/// Which keys are there.
extension FileProtector {
  /// The ids of all key files of this vault. Of a named file: its own, and those that wait beside it.
  public func keys(of vault: VaultID) throws(VaultError) -> [DeviceKeyID] {
    switch place {
    case .folder(let folder):
      return try Self.names(in: folder + "/" + vault.hexadecimal).compactMap { name in
        name.hasSuffix(".key") ? DeviceKeyID(hexadecimal: String(name.dropLast(4))) : nil
      }
    case .file(let file):
      let name = String(file[(file.lastIndex(of: "/").map(file.index(after:)) ?? file.startIndex)...])
      let folder = file.contains("/") ? String(file.dropLast(name.count)) : "."
      let waiting = try Self.names(in: folder).compactMap { other -> DeviceKeyID? in
        guard other.hasPrefix(name + "."), other.hasSuffix(".new") else { return nil }
        return DeviceKeyID(hexadecimal: String(other.dropFirst(name.count + 1).dropLast(4)))
      }
      guard let present = try? read(file) else { return waiting }
      let id = present.id
      return [id] + waiting.filter { $0 != id }
    }
  }

  /// The key in the named file; `nil` where none can be read, and for a folder of keys.
  package var namedKey: DeviceKeyID? {
    guard case .file(let file) = place, let present = try? read(file) else { return nil }
    return present.id
  }

  /// The key that a restore has put beside the named file; `nil` where none can be read, and for a folder of keys.
  var keyBeforeRestore: DeviceKeyID? {
    guard let aside = pathBeforeRestore, let held = try? read(aside) else { return nil }
    return held.id
  }

  /// The error of an `init` that finds something in the place of its key. It never takes a key over: which vaults need it cannot
  /// be known, and two vaults with one key lose it together.
  var taken: VaultError? {
    guard case .file(let file) = place else { return nil }
    guard namedKey != nil else {
      return VaultError(
        .vaultExists, "there is something already in the place of the device key: \(file)",
        hint: "name another file with --device-key, or move that one away")
    }
    return VaultError(
      .vaultExists,
      "there is a device key already: \(file); which vault needs it cannot be told from here",
      hint:
        "name another file with --device-key; where an 'init' that was interrupted has left this one, and no vault "
        + "was made with it, remove it")
  }

  /// The folders of keys, one for each vault id, and how many keys are in each. Empty for a named file.
  package func foldersOfKeys() throws(VaultError) -> [(vault: VaultID, path: String, count: Int)] {
    guard case .folder(let folder) = place else { return [] }
    var found: [(vault: VaultID, path: String, count: Int)] = []
    for name in try Self.names(in: folder) {
      guard let vault = VaultID(hexadecimal: name) else { continue }
      found.append((vault, folder + "/" + name, try keys(of: vault).count))
    }
    return found
  }

  /// Which file at or beside the named one really holds a key; `nil` where none does, and for a folder of keys.
  package func holder(of key: DeviceKeyID, _ vault: VaultID) -> String? {
    guard case .file(let file) = place, let aside = pathBeforeRestore else { return nil }
    return [file, presentPath(of: key, vault), aside].first { holds($0, key) }
  }

  /// Whether the file is this key.
  func holds(_ path: String, _ key: DeviceKeyID) -> Bool {
    guard let held = try? read(path) else { return false }
    return held.id == key
  }

  /// A lock on the folder of the keys.
  public func lock(_ vault: VaultID) throws(VaultError) -> ProtectorLock? {
    let key: String
    switch place {
    case .folder(let folder): key = folder + "/" + vault.hexadecimal + "/key"
    case .file(let file): key = file
    }
    try Self.makeFolders(above: key)
    return try ProtectorLock(folder: key.contains("/") ? String(key[...key.lastIndex(of: "/")!]) : ".")
  }

  /// The lock on the folder of a named file; `nil` where another one has it, and for a folder of keys.
  func lockAtOnce() -> ProtectorLock? {
    guard case .file(let file) = place else { return nil }
    return ProtectorLock(atOnce: file.lastIndex(of: "/").map { String(file[...$0]) } ?? ".")
  }

  /// The sorted names in a folder that begin with `prefix`; none when the folder does not exist.
  static func names(in folder: String, beginningWith prefix: String = "") throws(VaultError) -> [String] {
    guard let directory = unsafe opendir(folder) else {
      if errno == ENOENT || errno == ENOTDIR { return [] }
      throw Self.failure("list", folder)
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
    // A folder that was read in part has other names too.
    guard errno == 0 else { throw Self.failure("list", folder) }
    return names.sorted()
  }
}
