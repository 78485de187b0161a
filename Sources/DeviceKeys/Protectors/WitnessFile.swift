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
      var file = witness.open()
      guard file >= 0 else { return nil }
      var identity = FileIdentity(file)
      if let found = identity, found.isOurs, !found.hasOneName {
        let alone = witness.copied(from: file)
        close(file)
        guard alone >= 0 else { return nil }
        (file, identity) = (alone, FileIdentity(alone))
      }
      guard let identity, identity.isOurs, identity.hasOneName else {
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

    /// Another process may have removed the file's name, given it to another file, or given the file a second name.
    var isNamed: Bool {
      guard let named = FileIdentity(at: witness.path) else { return false }
      return named == identity && named.hasOneName
    }

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
  /// Whether nothing is written through the file into another name.
  let hasOneName: Bool
  /// Whether it is a regular file of this user.
  let isOurs: Bool

  init?(_ file: Int32) {
    var about = stat()
    guard unsafe fstat(file, &about) == 0 else { return nil }
    self.init(about)
  }

  /// The entry with that name itself, not the target of a link.
  init?(at path: String) {
    var about = stat()
    guard unsafe lstat(path, &about) == 0 else { return nil }
    self.init(about)
  }

  private init(_ about: stat) {
    (device, inode) = (about.st_dev, about.st_ino)
    hasOneName = about.st_nlink <= 1
    isOurs = about.st_mode & S_IFMT == S_IFREG && about.st_uid == geteuid()
  }

  static func == (one: Self, other: Self) -> Bool { one.device == other.device && one.inode == other.inode }
}
