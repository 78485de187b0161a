import CLinux
import Glibc

/// The bytes of a file or of a pipe, read once into a file of this process alone that has no name.
///
/// The source can be anything that can be read: its mode, its owner, its names and its file system do not matter, because what was copied
/// is all that is used.
package final class CopiedFile: Sendable {
  package let descriptor: Int32

  /// - Parameters:
  ///   - path: The source; a link is followed.
  ///   - folder: As of ``init(of:in:)-(Int32,_)``.
  /// - Throws: ``StorageError/missing``, ``StorageError/cannotOpen(errno:)`` and what the other initializer throws.
  package convenience init(of path: String, in folder: String) throws(StorageError) {
    let source = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
    guard source >= 0 else { throw errno == ENOENT ? .missing : .cannotOpen(errno: errno) }
    // It can be the vault that this process has open.
    defer { OpenVaultFiles.close(source) }
    try self.init(of: source, in: folder)
  }

  /// - Parameters:
  ///   - source: Is read from where it is to its end, and stays open.
  ///   - folder: The directory that the copy is in; the nearest one above it that exists, and those for temporary files after it.
  /// - Throws: ``StorageError/refused(_:)`` for a directory or a terminal, ``StorageError/damaged(_:)`` for what does not begin as a
  ///   vault file, ``StorageError/full``.
  package init(of source: Int32, in folder: String) throws(StorageError) {
    var about = stat()
    guard unsafe fstat(source, &about) == 0 else { throw .io(code: 0, errno: errno) }
    guard about.st_mode & S_IFMT != S_IFDIR, isatty(source) != 1 else { throw .refused(.notARegularFile) }
    let copy = try ScratchFile.make(in: ScratchFile.folders(near: folder))
    do throws(StorageError) { try Self.copy(source, to: copy) } catch {
      close(copy)
      throw error
    }
    descriptor = copy
  }

  deinit { close(descriptor) }

  private static func copy(_ source: Int32, to copy: Int32) throws(StorageError) {
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    let first = try read(source, into: &buffer, atLeast: beginning.count)
    guard first > 0 else { throw .damaged(.empty) }
    // Nothing else is copied: it could be of any size.
    guard buffer.prefix(min(first, beginning.count)).elementsEqual(beginning) else {
      throw .damaged(.notADatabase)
    }
    var count = first
    while count > 0 {
      try ScratchFile.write(buffer.prefix(count), to: copy)
      count = try read(source, into: &buffer, atLeast: 1)
    }
  }

  /// - Returns: How many bytes were read; fewer than asked for at the end.
  private static func read(
    _ source: Int32, into buffer: inout [UInt8], atLeast least: Int
  ) throws(StorageError) -> Int {
    var done = 0
    while done < least {
      let count = unsafe buffer.withUnsafeMutableBytes {
        unsafe Glibc.read(source, $0.baseAddress! + done, $0.count - done)
      }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .io(code: 0, errno: errno) }
      if count == 0 { break }
      done += count
    }
    return done
  }

  /// How each file of SQLite begins.
  private static let beginning = Array("SQLite format 3\0".utf8)
}
