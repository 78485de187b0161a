import Dispatch
import Glibc
import Synchronization

/// The vault files that SQLite has open in this process.
///
/// A process loses all its POSIX locks on a file when it closes any descriptor of that file. SQLite knows its own descriptors and waits
/// with closing them; this is for all others: a descriptor that leads to an open vault, or to a file beside it, stays open as long as
/// the vault does (decision 0045).
///
/// No file is looked at and none is closed while the table is locked: a file of another process can take its time.
package enum OpenVaultFiles {
  /// A vault, as the kernel identifies its file.
  package struct Identity: Hashable, Sendable {
    package let device, inode: UInt64

    package init(device: UInt64, inode: UInt64) { (self.device, self.inode) = (device, inode) }

    /// nil for what is no regular file: no vault is one.
    init?(_ about: stat) {
      let file = FileStatus(about)
      guard file.isRegularFile else { return nil }
      self.init(device: file.device, inode: file.inode)
    }
  }

  private struct Opened {
    let path: String
    let file: Identity
    var connections = 1
    /// Descriptors that are closed after the last connection.
    var kept: [(descriptor: Int32, file: Identity)] = []
  }

  /// A descriptor that is being closed. No vault of its file is opened meanwhile.
  private struct Closing {
    let file: Identity
    /// Those who wait for its end.
    var waiters: [DispatchSemaphore] = []
  }

  private struct State {
    var opened: [Opened] = []
    var closing: [Closing] = []

    func index(of file: Identity) -> Int? { opened.firstIndex { $0.file == file } }
  }
  private static let all = Mutex(State())

  /// Whether the descriptor leads to an open vault, or to its log or the index of its log.
  package static func contain(_ descriptor: Int32) -> Bool {
    guard let file = identity(of: descriptor) else { return false }
    return vault(of: file, in: all.withLock { $0.opened }) != nil
  }

  /// Whether the path leads to such a file. Opens nothing.
  package static func contain(path: String) -> Bool {
    var about = stat()
    guard unsafe stat(path, &about) == 0, let file = Identity(about) else { return false }
    return vault(of: file, in: all.withLock { $0.opened }) != nil
  }

  /// Closes a descriptor; one of an open vault when the vault is closed.
  ///
  /// - Returns: The vault that keeps it open, and how many descriptors that vault keeps by now; nil if it is closed.
  @discardableResult
  package static func close(_ descriptor: Int32) -> (vault: Identity, count: Int)? {
    guard let file = identity(of: descriptor) else {
      Glibc.close(descriptor)
      return nil
    }
    // From here on, a vault of this file is opened after the end of this.
    let opened = all.withLock { state in
      state.closing.append(Closing(file: file))
      return state.opened
    }
    defer { endClosing(file) }
    if let vault = vault(of: file, in: opened), let count = keep(descriptor, of: file, until: vault) {
      return (vault, count)
    }
    Glibc.close(descriptor)
    return nil
  }

  /// - Returns: nil if the vault was closed meanwhile.
  private static func keep(_ descriptor: Int32, of file: Identity, until vault: Identity) -> Int? {
    all.withLock { state in
      guard let index = state.index(of: vault) else { return nil }
      state.opened[index].kept.append((descriptor, file))
      return state.opened[index].kept.count
    }
  }

  private static func endClosing(_ file: Identity) {
    all.withLock { state in
      guard let index = state.closing.firstIndex(where: { $0.file == file }) else { return }
      for waiter in state.closing.remove(at: index).waiters { waiter.signal() }
    }
  }

  /// Waits while a descriptor of a vault or of a file beside it is being closed.
  private static func waitForClosing(of path: String, _ file: Identity) {
    while all.withLock({ !$0.closing.isEmpty }) {
      let files = [file] + SideFileName.companions.compactMap { identity(of: path + $0) }
      let ended = DispatchSemaphore(value: 0)
      let waits = all.withLock { state in
        guard let index = state.closing.firstIndex(where: { files.contains($0.file) }) else { return false }
        state.closing[index].waiters.append(ended)
        return true
      }
      guard waits else { return }
      ended.wait()
    }
  }

  private static func identity(of descriptor: Int32) -> Identity? {
    var about = stat()
    return unsafe fstat(descriptor, &about) == 0 ? Identity(about) : nil
  }

  /// The vault that a file belongs to. The files beside a vault have other inodes each time that it is opened, so they are looked up by name.
  private static func vault(of file: Identity, in opened: [Opened]) -> Identity? {
    opened.first { vault in
      vault.file == file || SideFileName.companions.contains { identity(of: vault.path + $0) == file }
    }?.file
  }

  private static func identity(of path: String) -> Identity? {
    var about = stat()
    return unsafe lstat(path, &about) == 0 ? Identity(about) : nil
  }

  /// One connection to a vault file. Its end is the end of the connection.
  struct Entry: ~Copyable {
    private let file: Identity

    /// Waits until a descriptor of the file that is being closed is closed.
    init(_ path: String, device: UInt64, inode: UInt64) {
      let file = Identity(device: device, inode: inode)
      self.file = file
      all.withLock { state in
        if let index = state.index(of: file) {
          state.opened[index].connections += 1
        } else {
          state.opened.append(Opened(path: path, file: file))
        }
      }
      waitForClosing(of: path, file)
    }

    /// A vault that another thread opens meanwhile waits for the end of what was kept, as for any descriptor that is being closed.
    deinit {
      let kept = all.withLock { state -> [(descriptor: Int32, file: Identity)] in
        guard let index = state.index(of: file) else { return [] }
        state.opened[index].connections -= 1
        guard state.opened[index].connections == 0 else { return [] }
        let kept = state.opened.remove(at: index).kept
        state.closing += kept.map { Closing(file: $0.file) }
        return kept
      }
      for (descriptor, file) in kept {
        Glibc.close(descriptor)
        endClosing(file)
      }
    }
  }
}
