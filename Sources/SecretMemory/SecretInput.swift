import Glibc

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
  }

  /// Which owner and mode a file with a secret must have.
  package enum Privacy: Sendable {
    /// It belongs to this user and has the mode 0600 or 0400.
    case own
    /// A credential of systemd: it belongs to this user or to root. An ACL gives this process access, and appears as a
    /// permission of the group.
    case credential
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

  /// Opens a regular file with a secret for reading. Follows no link, and waits for no writer of a pipe. The caller
  /// closes the descriptor.
  package static func open(_ path: String, as privacy: Privacy) throws(FileFault) -> Int32 {
    let file = unsafe Glibc.open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard file >= 0 else { throw .failed(errno) }
    do throws(FileFault) { try check(file, as: privacy) } catch {
      close(file)
      throw error
    }
    return file
  }

  private static func check(_ file: Int32, as privacy: Privacy) throws(FileFault) {
    var status = stat()
    guard unsafe fstat(file, &status) == 0 else { throw .unexaminable(errno) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular }
    switch privacy {
    case .own:
      guard status.st_uid == geteuid() else { throw .foreign }
      guard [0o600, 0o400].contains(status.st_mode & 0o7777) else { throw .exposed }
    case .credential:
      guard status.st_uid == geteuid() || status.st_uid == 0 else { throw .foreign }
      guard status.st_mode & 0o037 == 0 else { throw .exposed }
    }
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
