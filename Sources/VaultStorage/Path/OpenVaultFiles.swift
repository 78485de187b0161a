import Glibc
import Synchronization

/// The vault files that SQLite has open in this process.
///
/// A process loses all its POSIX locks on a file when it closes any descriptor of that file. SQLite knows its own descriptors and waits
/// with closing them; this is for all others: a descriptor that leads to an open vault, or to a file beside it, stays open as long as
/// the vault does (decision 0045).
package enum OpenVaultFiles {
  private struct Opened {
    let path: String
    let device, inode: UInt64
    var connections = 1
    /// Descriptors that are closed after the last connection.
    var kept: [Int32] = []
  }
  private static let all = Mutex<[Opened]>([])

  /// Whether the descriptor leads to an open vault, or to its log or the index of its log.
  package static func contain(_ descriptor: Int32) -> Bool {
    var about = stat()
    guard unsafe fstat(descriptor, &about) == 0 else { return false }
    return all.withLock { index(of: FileStatus(about), in: $0) != nil }
  }

  /// Whether the path leads to such a file. Opens nothing.
  package static func contain(path: String) -> Bool {
    var about = stat()
    guard unsafe stat(path, &about) == 0 else { return false }
    return all.withLock { index(of: FileStatus(about), in: $0) != nil }
  }

  /// Closes a descriptor; one of an open vault when the vault is closed.
  package static func close(_ descriptor: Int32) {
    var about = stat()
    let isKept = unsafe fstat(descriptor, &about) == 0 && keep(descriptor, of: FileStatus(about))
    if !isKept { Glibc.close(descriptor) }
  }

  private static func keep(_ descriptor: Int32, of file: FileStatus) -> Bool {
    all.withLock { all in
      guard let index = index(of: file, in: all) else { return false }
      all[index].kept.append(descriptor)
      return true
    }
  }

  /// The files beside a vault have other inodes each time that it is opened, so they are looked up by name.
  private static func index(of file: FileStatus, in all: [Opened]) -> Int? {
    guard file.isRegularFile else { return nil }
    return all.firstIndex { opened in
      if opened.device == file.device, opened.inode == file.inode { return true }
      return SideFileName.companions.contains { suffix in
        var about = stat()
        guard unsafe lstat(opened.path + suffix, &about) == 0 else { return false }
        let companion = FileStatus(about)
        return companion.device == file.device && companion.inode == file.inode
      }
    }
  }

  /// One connection to a vault file. Its end is the end of the connection.
  struct Entry: ~Copyable {
    private let device, inode: UInt64

    init(_ path: String, device: UInt64, inode: UInt64) {
      (self.device, self.inode) = (device, inode)
      all.withLock { all in
        if let index = all.firstIndex(where: { $0.device == device && $0.inode == inode }) {
          all[index].connections += 1
        } else {
          all.append(Opened(path: path, device: device, inode: inode))
        }
      }
    }

    deinit {
      let kept = all.withLock { all -> [Int32] in
        guard let index = all.firstIndex(where: { $0.device == device && $0.inode == inode }) else {
          return []
        }
        all[index].connections -= 1
        return all[index].connections == 0 ? all.remove(at: index).kept : []
      }
      for descriptor in kept { Glibc.close(descriptor) }
    }
  }
}
