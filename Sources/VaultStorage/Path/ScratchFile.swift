import CLinux
import Glibc

/// Files of this process alone that have no name: whatever ends the process, nothing is left of them.
package enum ScratchFile {
  /// Makes one in the first directory that can have it.
  ///
  /// - Returns: A descriptor for reading and writing, which the caller closes.
  /// - Throws: Why the first directory cannot have it.
  package static func make(in folders: [String]) throws(StorageError) -> Int32 {
    var problem: Int32?
    for folder in folders {
      let file = unsafe clinux_scratch_file(folder)
      guard file < 0 else { return file }
      problem = problem ?? errno
    }
    throw .creating(problem ?? ENOENT)
  }

  /// A directory, or the nearest one above it that exists; then those for temporary files.
  package static func folders(near folder: String) -> [String] {
    var nearest = folder
    while unsafe nearest != "/" && nearest != "." && access(nearest, F_OK) != 0 {
      nearest = VaultPath.parent(of: nearest)
    }
    return [nearest] + temporary
  }

  /// The directories for temporary files, that with room for so many bytes first.
  package static func folders(for byteCount: Int) -> [String] {
    let hasRoom = temporary.filter { folder in
      var about = statvfs()
      guard unsafe statvfs(folder, &about) == 0 else { return false }
      return Double(about.f_bavail) * Double(about.f_frsize) > Double(byteCount)
    }
    return hasRoom + temporary.filter { !hasRoom.contains($0) }
  }

  private static let temporary = ["/var/tmp", "/tmp"]

  /// Writes all of `bytes`.
  static func write(_ bytes: ArraySlice<UInt8>, to file: Int32) throws(StorageError) {
    var rest = bytes
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw .creating(count < 0 ? errno : ENOSPC) }
      rest = rest.dropFirst(count)
    }
  }

  /// Lends the whole of a file, part by part.
  package static func read<E: StorageFailure>(
    _ file: Int32, _ body: (ArraySlice<UInt8>) throws(E) -> Void
  ) throws(E) {
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    var offset: off_t = 0
    while true {
      let count = unsafe pread(file, &buffer, buffer.count, offset)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw E(StorageError.io(code: 0, errno: errno)) }
      guard count > 0 else { return }
      try body(buffer.prefix(count))
      offset += count
    }
  }
}
