import VaultFormat
import Glibc
import Synchronization

/// The witness's file, kept open from one commit of this process to the next as long as it has its name.
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

    /// Somebody may have closed it, as a daemon closes what it has inherited; the number is another file's then.
    var isOpen: Bool { FileIdentity(file) == identity }

    /// Its name may have been removed, or given to another file, by another process.
    var isNamed: Bool { FileIdentity(at: witness.path) == identity }

    func end() { if isOpen { close(file) } }
  }
  private let last = Mutex<Opened?>(nil)

  deinit { last.withLock { $0?.end() } }

  /// Writes the number to the file of `witness`, which is asked for only where the last one was another.
  func note(
    _ sequence: UInt64, under key: DeviceKeyID, of vault: VaultID, in witness: () -> KeyWitness?
  ) {
    last.withLock { last in
      if let known = last,
        known.witness.key != key || known.vault != vault || !known.isOpen || !known.isNamed
      {
        known.end()
        last = nil
      }
      if last == nil { last = Opened(witness(), vault) }
      if let last { KeyWitness.note(sequence, under: key, in: last.file) }
    }
  }
}

/// Which file it is, whatever its names.
private struct FileIdentity: Equatable {
  private let device, inode: UInt

  init?(_ file: Int32) {
    var about = stat()
    guard unsafe fstat(file, &about) == 0 else { return nil }
    (device, inode) = (about.st_dev, about.st_ino)
  }

  /// The entry of that name itself, not what a link leads to.
  init?(at path: String) {
    var about = stat()
    guard unsafe lstat(path, &about) == 0 else { return nil }
    (device, inode) = (about.st_dev, about.st_ino)
  }
}
