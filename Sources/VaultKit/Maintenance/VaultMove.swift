package import DeviceKeys
import Glibc
package import VaultFormat
import VaultStorage

/// The move of a whole vault to another owner, such as a keeper: all items, counts and entries of the log, under a new device key.
///
/// Unlike a backup, nothing is left out and nothing is made again, so only one of the two files may ever open. Who moves the vault
/// takes a ``Source``, has the other side make a ``copy(from:keptBy:to:protector:goesOn:environment:)``, which nobody opens yet, and sets the
/// source aside: that is the moment of the move.
package enum VaultMove {
  /// A vault that nobody has open, and that nobody opens while this exists.
  package struct Source: ~Copyable {
    package let path: String
    package let outline: VaultOutline
    private let hold: VaultNames.Hold

    /// - Throws: ``VaultError/Code/busy`` if a program has the vault open.
    package init(of path: String) throws(VaultError) {
      let outline = try VaultOutline(at: path)
      // Not even looked at while this process has it open: its locks would be lost.
      guard !VaultNames.isOpenVault(path: path) else { throw Self.inUse(path) }
      guard let hold = try VaultNames.Hold(vault: path), try !VaultNames.isInUse(vault: path) else {
        throw Self.inUse(path)
      }
      (self.path, self.outline) = (path, outline)
      self.hold = hold
    }

    private static func inUse(_ path: String) -> VaultError {
      VaultError(
        .busy, "a program is using the vault that is to be moved: \(path)",
        hint: "end it, lock the vault if an agent has it open, and try again; nothing was moved")
    }

    /// Lends the descriptor of the file, which is complete.
    package borrowing func lend<R: ~Copyable, E: Error>(
      _ body: (Int32) throws(E) -> R
    ) throws(E) -> R { try hold.lend(body) }

    /// Does nothing. A call marks the point until which nobody may open the vault.
    package borrowing func keep() {}

    /// Gives the vault the name of one that was moved away: from here on nothing opens at its path. Durable when this returns.
    ///
    /// What has that name already was moved away before.
    package borrowing func letGo() throws(VaultError) {
      guard unsafe rename(path, VaultMove.aside(path)) == 0 else { throw .failed("renaming \(path)") }
      try VaultNames.synchronizeFolder(of: path)
    }
  }

  /// Where the file of a vault that was moved away is until the other side has it.
  package static func aside(_ path: String) -> String { path + ".moved-into-keeper" }

  /// Whether a file is the vault that had this device key, now or before.
  ///
  /// - Returns: false if there is no file, or another vault.
  /// - Throws: If it cannot be read: it could be the vault.
  package static func isThere(
    _ vault: VaultID, under key: DeviceKeyID, at path: String
  ) throws(VaultError) -> Bool {
    do throws(VaultError) {
      let found = try VaultOutline(at: path)
      return found.vault == vault && (found.deviceKey == key || found.replacedKeys.contains(key))
    } catch {
      guard error.code == .vaultMissing else { throw error }
      return false
    }
  }

  /// Refuses a place in which no vault can be made, as the making of one does. Missing folders of it are made.
  package static func check(newPlace path: String) throws(VaultError) {
    do throws(StorageError) { try NewVaultPlace.prepare(path).abandon() } catch {
      throw VaultError(error, at: path)
    }
    try FileProtector.makeFolders(above: path)
  }

  /// Makes a file or its absence durable.
  package static func settle(_ path: String) throws(VaultError) {
    if try VaultNames.exists(path) {
      try VaultNames.synchronize(path)
    } else {
      try VaultNames.synchronizeFolder(of: path)
    }
  }

  /// Makes a vault of the bytes of another one, with a new device key. It is one closed file, on the disk when this returns.
  ///
  /// - Parameters:
  ///   - source: A complete vault file, which nobody changes.
  ///   - old: The device key that it names. Its protector keeps it for the source, and remembers the commits of the source alone.
  ///   - path: A path that does not exist.
  ///   - protector: Who keeps the new device key.
  ///   - goesOn: Whether its bytes are copied into a third file.
  /// - Throws: What is wrong with the bytes, and ``VaultError/Code/io``. Then neither the file nor its key stays.
  package static func copy(
    from source: Int32, keptBy old: CarriedKey, to path: String, protector: any Protector,
    goesOn: Bool = false, environment: VaultEnvironment
  ) throws(VaultError) -> VaultOutline {
    try copy(from: source, to: path)
    var environment = environment
    environment.move = goesOn ? .onward : .here
    do throws(VaultError) {
      try VaultCore.open(at: path, protector: old, environment: environment).rotateDeviceKey(to: protector)
      let outline = try VaultOutline(at: path)
      try VaultNames.synchronize(path)
      return outline
    } catch {
      removeCopy(at: path, protector: protector)
      throw error
    }
  }

  /// Removes a copy that was never a vault in its place, and its device key.
  ///
  /// - Parameter protector: What may keep that key; nil if another file can need it.
  package static func removeCopy(at path: String, protector: (any Protector)?) {
    if let protector, let outline = try? VaultOutline(at: path) {
      DeviceKeys(protector, of: outline.vault).deleteUnnamed(outline.deviceKey, beside: path)
    }
    VaultNames.remove(vault: path)
  }

  private static func copy(from source: Int32, to path: String) throws(VaultError) {
    try checkSource(source, for: path)
    let target = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard target >= 0 else { throw .failed("making \(path)") }
    defer { close(target) }
    do throws(VaultError) { try copy(from: source, to: target, at: path) } catch {
      unsafe unlink(path)
      throw error
    }
  }

  /// Refuses what is no file, or has no room here: other programs need the disk too.
  private static func checkSource(_ source: Int32, for path: String) throws(VaultError) {
    var about = stat()
    guard unsafe fstat(source, &about) == 0, about.st_mode & S_IFMT == S_IFREG else {
      throw VaultError(.damaged, "what came is no vault file")
    }
    var space = statvfs()
    let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    guard unsafe statvfs(folder, &space) == 0, UInt(about.st_size) / space.f_frsize < space.f_bavail else {
      throw VaultError(
        .io, "there is no room for the vault in \(folder)", hint: "free some space there, and try again",
        underlying: ENOSPC)
    }
  }

  /// From the first byte: the descriptor can have been read before.
  package static func copy(from source: Int32, to target: Int32, at path: String) throws(VaultError) {
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    var position = 0
    while true {
      let count = unsafe buffer.withUnsafeMutableBytes {
        unsafe pread(source, $0.baseAddress, $0.count, position)
      }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .failed("reading the vault that is moved") }
      if count == 0 { break }
      position += count
      var written = 0
      while written < count {
        let step = unsafe buffer.withUnsafeBytes {
          unsafe write(target, $0.baseAddress! + written, count - written)
        }
        if step < 0, errno == EINTR { continue }
        guard step > 0 else { throw .failed("writing \(path)") }
        written += step
      }
    }
    guard fsync(target) == 0 else { throw .failed("writing \(path)") }
  }
}
