import Glibc

/// The bytes of a closed vault's file and of its log, written back for each mutant.
///
/// The file keeps its inode, because with another inode the library takes the file for a copy.
struct VaultFiles {
  let path: String
  var database: [UInt8]
  var log: [UInt8]

  init(path: String, database: [UInt8], log: [UInt8]) {
    self.path = path
    self.database = database
    self.log = log
  }

  init(at path: String) {
    self.path = path
    database = Self.read(path)
    log = Self.read(path + "-wal")
  }

  func write() {
    unsafe unlink(path + "-shm")
    unsafe unlink(path + "-journal")
    Self.write(database, to: path)
    if log.isEmpty { unsafe unlink(path + "-wal") } else { Self.write(log, to: path + "-wal") }
  }

  static func read(_ path: String) -> [UInt8] {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return [] }
    defer { close(file) }
    let count = Int(lseek(file, 0, SEEK_END))
    var bytes = [UInt8](repeating: 0, count: count)
    guard unsafe pread(file, &bytes, count, 0) == count else { fail("cannot read \(path)") }
    return bytes
  }

  private static func write(_ bytes: [UInt8], to path: String) {
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { fail("cannot open \(path)") }
    defer { close(file) }
    guard unsafe Glibc.write(file, bytes, bytes.count) == bytes.count else { fail("cannot write \(path)") }
  }
}
