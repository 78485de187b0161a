import Glibc
import TrustedPaths

/// Reads a secret from a descriptor or a file of this user straight into ``SecretBytes``.
///
/// An error names neither the path nor the use of the secret, because only the caller knows them.
package enum SecretInput {
  /// Why a descriptor was not read to its end.
  package enum Fault: Error {
    /// There are more bytes than the caller allows.
    case tooLong
    /// The descriptor is not open for reading.
    case notOpen
    /// Reading failed with this error number.
    case failed(Int32)
  }

  /// Why a file is not opened as a private one.
  package enum FileFault: Error {
    /// The system call failed with this error number.
    case failed(Int32)
    /// Reading the file's owner and mode failed with this error number.
    case unexaminable(Int32)
    /// The path does not lead to a regular file.
    case notRegular
    /// The file belongs to another user.
    case foreign
    /// Others can read or change the file.
    case exposed
    /// Others decide what this part of the path leads to.
    case replaceable(String)
  }

  /// Everything up to the end, byte for byte. Waits for a descriptor that does not block.
  package static func all(of descriptor: Int32, limit: Int) throws(Fault) -> SecretBytes {
    var bytes = SecretBytes(capacity: 0) { _ in }
    var capacity = min(limit + 1, 4096)
    while true {
      var isAtEnd = false
      let larger = try SecretBytes(capacity: capacity) { output throws(Fault) in
        bytes.expose { output.append(copying: $0) }
        while !isAtEnd, output.freeCapacity > 0 { isAtEnd = try !appendSome(of: descriptor, to: &output) }
      }
      bytes = larger
      if isAtEnd { break }
      guard capacity <= limit else { throw .tooLong }
      capacity = min(limit + 1, capacity * 8)
    }
    guard bytes.byteCount <= limit else { throw .tooLong }
    return bytes
  }

  /// Opens a regular file with a secret for reading, and waits for no writer of a pipe. The caller closes the descriptor.
  ///
  /// This is the one place that decides which files are believed (docs/decisions/0063):
  ///
  /// - a file of this user with the mode 0600, 0400 or 0440 (an access control list shows as a permission of the group);
  /// - a file of root that only root and its group can change, because root reads and decides everything here anyway. Others may be able
  ///   to read it: ``isReadableByOthers(_:)``;
  /// - a file of this user on a medium on which nobody can change it, in the same way.
  ///
  /// Where root owns the file, or its name is a link, as Kubernetes makes them, only root and this user may decide what its path leads to.
  ///
  /// - Parameter followsLinks: Whether the name may be a link.
  package static func open(_ path: String, followsLinks: Bool = true) throws(FileFault) -> Int32 {
    let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (followsLinks ? 0 : O_NOFOLLOW)
    // Kubernetes replaces the link to the directory of all secrets in one step, at any moment.
    for _ in 1...mostTries {
      let file = unsafe Glibc.open(path, flags)
      guard file >= 0 else { throw .failed(errno) }
      do throws(FileFault) { if try isBelieved(file, at: path) { return file } } catch {
        close(file)
        throw error
      }
      close(file)
    }
    throw .replaceable(absolute(path))
  }

  private static let mostTries = 8

  /// - Returns: False where the path does not lead to this file any more.
  package static func isBelieved(_ file: Int32, at path: String) throws(FileFault) -> Bool {
    var (status, name) = (stat(), stat())
    guard unsafe fstat(file, &status) == 0 else { throw .unexaminable(errno) }
    guard unsafe lstat(path, &name) == 0 else {
      // A rotation has given the file its other name.
      guard errno == ENOENT || errno == ENOTDIR else { throw .unexaminable(errno) }
      return false
    }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular }
    let isOwn = status.st_uid == geteuid()
    guard isOwn || status.st_uid == 0 else { throw .foreign }
    let isOpen =
      isOwn && !isReadOnly(file) ? ![0o600, 0o400, 0o440].contains(status.st_mode & 0o7777) : false
    guard !isOpen, status.st_mode & S_IWOTH == 0 else { throw .exposed }
    // Not a link, nor what replaced one after the opening.
    if isOwn, name.st_dev == status.st_dev, name.st_ino == status.st_ino { return true }
    guard let flaw = TrustedPath.flaw(of: absolute(path), leadingTo: file) else { return true }
    guard flaw.reason == .replaced else { throw .replaceable(flaw.part) }
    return false
  }

  /// Whether users other than its owner and its group can read an open file.
  package static func isReadableByOthers(_ file: Int32) -> Bool {
    var status = stat()
    return unsafe fstat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
      && status.st_mode & S_IROTH != 0
  }

  /// The descriptor of this process that a path names: `/dev/fd/3`, `/proc/self/fd/3`, `/dev/stdin`; `nil` for any other path. Whoever
  /// started the process has chosen what it leads to, as for a number.
  package static func descriptor(named path: String) -> Int32? {
    if path == "/dev/stdin" { return 0 }
    for folder in ["/dev/fd/", "/proc/self/fd/", "/proc/\(getpid())/fd/"] where path.hasPrefix(folder) {
      return Int32(path.dropFirst(folder.count))
    }
    return nil
  }

  private static func isReadOnly(_ file: Int32) -> Bool {
    var about = statvfs()
    return unsafe fstatvfs(file, &about) == 0 && about.f_flag & UInt(ST_RDONLY) != 0
  }

  private static func absolute(_ path: String) -> String {
    guard !path.hasPrefix("/"), let folder = unsafe getcwd(nil, 0) else { return path }
    defer { unsafe free(folder) }
    return unsafe String(cString: folder) + "/" + path
  }

  /// False at the end.
  private static func appendSome(of descriptor: Int32, to output: inout OutputRawSpan) throws(Fault) -> Bool {
    while true {
      guard DescriptorWait.mayRead(descriptor) else { throw .failed(ECANCELED) }
      var got = 0
      unsafe output.withUnsafeMutableBytes { bytes, count in
        got = unsafe read(descriptor, bytes.baseAddress! + count, bytes.count - count)
        count += max(got, 0)
      }
      if got >= 0 { return got > 0 }
      switch errno {
      case EINTR: continue
      case EBADF: throw .notOpen
      case EAGAIN:
        var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&wait, 1, -1)
      default: throw .failed(errno)
      }
    }
  }
}
