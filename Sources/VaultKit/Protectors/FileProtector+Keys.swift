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
      if errno == ENOENT { return [] }
      throw Self.failure("list", folder)
    }
    defer { unsafe closedir(directory) }
    var names: [String] = []
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) {
        unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name.hasPrefix(prefix) { names.append(name) }
    }
    return names.sorted()
  }
}
