package import DeviceKeys
import Glibc
package import VaultFormat

/// The move of a whole vault to another owner, such as a keeper: all items, counts and entries of the log, under a new device key.
///
/// Unlike a backup, nothing is left out and nothing is made again, so only one of the two files may ever open. Who moves the vault
/// takes a ``Source``, has the other side make a ``copy(from:keptBy:to:protector:environment:)``, which nobody opens yet, and removes the
/// source: that is the moment of the move.
package enum VaultMove {
  /// A vault that nobody has open, and that nobody opens while this exists.
  package struct Source: ~Copyable {
    package let path: String
    package let outline: VaultOutline
    private let hold: VaultNames.Hold

    /// - Throws: ``VaultError/Code/busy`` if a program has the vault open.
    package init(of path: String) throws(VaultError) {
      let outline = try VaultOutline(at: path)
      guard let hold = try VaultNames.Hold(vault: path), try !VaultNames.isInUse(vault: path) else {
        throw VaultError(
          .busy, "a program is using the vault that is to be moved: \(path)",
          hint: "end it, lock the vault if an agent has it open, and try again; nothing was moved")
      }
      (self.path, self.outline) = (path, outline)
      self.hold = hold
    }

    /// Lends the descriptor of the file, which is complete.
    package borrowing func lend<R: ~Copyable, E: Error>(
      _ body: (Int32) throws(E) -> R
    ) throws(E) -> R { try hold.lend(body) }

    /// Does nothing. A call marks the point until which nobody may open the vault.
    package borrowing func keep() {}

    /// Removes the vault: from here on nothing opens at its path. Durable when this returns.
    package borrowing func remove() throws(VaultError) {
      guard unsafe unlink(path) == 0 else { throw .failed("removing \(path)") }
      try VaultNames.synchronizeFolder(of: path)
    }
  }

  /// Makes a vault of the bytes of another one, with a new device key. It is one closed file, on the disk when this returns.
  ///
  /// - Parameters:
  ///   - source: A complete vault file, which nobody changes.
  ///   - old: Who keeps the device key that it names.
  ///   - path: A path that does not exist.
  ///   - protector: Who keeps the new device key.
  /// - Throws: What is wrong with the bytes, and ``VaultError/Code/io``. Then neither the file nor its key stays.
  package static func copy(
    from source: Int32, keptBy old: any Protector, to path: String, protector: any Protector,
    environment: VaultEnvironment
  ) throws(VaultError) -> VaultOutline {
    try copy(from: source, to: path)
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
  package static func removeCopy(at path: String, protector: any Protector) {
    if let outline = try? VaultOutline(at: path) {
      DeviceKeys(protector, of: outline.vault).deleteUnnamed(outline.deviceKey, beside: path)
    }
    VaultNames.remove(vault: path)
  }

  private static func copy(from source: Int32, to path: String) throws(VaultError) {
    let target = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard target >= 0 else { throw .failed("making \(path)") }
    defer { close(target) }
    do throws(VaultError) { try copy(from: source, to: target, at: path) } catch {
      unsafe unlink(path)
      throw error
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
