import VaultFormat
import Glibc
import Synchronization

/// The file of the witness. It stays open from one commit of this process to the next as long as it keeps its name.
final class WitnessFile: Sendable {
  private struct Opened {
    let witness: KeyWitness
    let vault: VaultID
    let file: Int32
    let identity: FileIdentity

    init?(_ witness: KeyWitness?, _ vault: VaultID) {
      guard let witness else { return nil }
      let file = witness.open()
      guard file >= 0 else { return nil }
      guard let identity = FileIdentity(file) else {
        close(file)
        return nil
      }
      self.witness = witness
      self.vault = vault
      self.file = file
      self.identity = identity
    }

    /// The descriptor may have been closed, as a daemon closes inherited ones. Then its number may belong to another
    /// file.
    var isOpen: Bool { FileIdentity(file) == identity }

    /// Another process may have removed the file's name or given it to another file.
    var isNamed: Bool { FileIdentity(at: witness.path) == identity }

    func end() { if isOpen { close(file) } }
  }
  private let last = Mutex<Opened?>(nil)

  deinit { last.withLock { $0?.end() } }

  /// Writes the commit to the file of `witness`, which is called only if the open file is not the right one.
  ///
  /// - Parameter mayReplace: Whether to write over the witness of another key, which is given.
  func note(
    _ commit: SeenCommit, under key: DeviceKeyID, of vault: VaultID,
    over mayReplace: (DeviceKeyID) -> Bool = { _ in true }, in witness: () -> KeyWitness?
  ) {
    last.withLock { last in
      if let known = last,
        known.witness.key != key || known.vault != vault || !known.isOpen || !known.isNamed
      {
        known.end()
        last = nil
      }
      if last == nil { last = Opened(witness(), vault) }
      if let last { KeyWitness.note(commit, under: key, in: last.file, over: mayReplace) }
    }
  }

  /// Reads the commit from the open file, or, where another file has its name, from that of `witness`.
  func seen(under key: DeviceKeyID, of vault: VaultID, in witness: () -> KeyWitness?) -> SeenCommit? {
    last.withLock { last in
      if let last, last.vault == vault, last.isNamed, let seen = KeyWitness.seen(under: key, in: last.file) {
        return seen
      }
      return witness()?.seen
    }
  }
}

/// The identity of a file, whatever its names.
private struct FileIdentity: Equatable {
  private let device, inode: UInt

  init?(_ file: Int32) {
    var about = stat()
    guard unsafe fstat(file, &about) == 0 else { return nil }
    (device, inode) = (about.st_dev, about.st_ino)
  }

  /// The entry with that name itself, not the target of a link.
  init?(at path: String) {
    var about = stat()
    guard unsafe lstat(path, &about) == 0 else { return nil }
    (device, inode) = (about.st_dev, about.st_ino)
  }
}
