import Glibc

/// What `stat` says of a file, as far as we ask.
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

  var permissions: UInt32 { mode & 0o777 }
  var isSticky: Bool { mode & UInt32(S_ISVTX) != 0 }
  var isSymbolicLink: Bool { mode & UInt32(S_IFMT) == UInt32(S_IFLNK) }
  var isRegularFile: Bool { mode & UInt32(S_IFMT) == UInt32(S_IFREG) }
}
