import CLinux
import Glibc

/// The fields of `stat` that this module uses.
struct FileStatus {
  let device: UInt64
  let inode: UInt64
  let owner: UInt32
  let byteCount: Int64
  let linkCount: UInt64
  private let mode: UInt32

  init(_ about: stat) {
    device = UInt64(about.st_dev)
    inode = UInt64(about.st_ino)
    owner = about.st_uid
    byteCount = Int64(about.st_size)
    linkCount = UInt64(about.st_nlink)
    mode = about.st_mode
  }

  init(_ about: clinux_status) {
    (device, inode, owner) = (about.device, about.inode, about.owner)
    (byteCount, linkCount, mode) = (about.byte_count, about.link_count, about.mode)
  }

  /// The status of a name, without following links, as the file system has it now. What the kernel remembers of a file of FUSE can be
  /// a second old: that a file has two names, or another number, is proof only when this says it too.
  ///
  /// - Returns: `nil` with the `errno` of the call where it cannot be looked at.
  static func fresh(_ name: String, in folder: Int32 = AT_FDCWD) -> FileStatus? {
    var about = clinux_status()
    return unsafe clinux_fresh_status(folder, name, &about) == 0 ? FileStatus(about) : nil
  }

  var permissions: UInt32 { mode & 0o777 }
  var isSticky: Bool { mode & UInt32(S_ISVTX) != 0 }
  var isSymbolicLink: Bool { mode & UInt32(S_IFMT) == UInt32(S_IFLNK) }
  var isRegularFile: Bool { mode & UInt32(S_IFMT) == UInt32(S_IFREG) }
}

extension VaultPath {
  /// What tells the file that has a name now from others in its file system, as 32 hexadecimal digits; `nil` if there is none.
  func identity(of name: String) throws(StorageError) -> String? {
    guard let inode = try status(of: name)?.inode else { return nil }
    let digits = String(inode, radix: 16)
    return String(repeating: "0", count: 32 - digits.count) + digits
  }
}
