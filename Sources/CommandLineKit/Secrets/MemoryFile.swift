import CLinux
import Glibc
package import SecretMemory
import TextFormats

/// Secrets as sealed files in memory, for a program that is to inherit them.
package enum MemoryFile {
  /// The descriptor of a new one, at its first byte and close-on-exec.
  ///
  /// Its mode is 0400: programs like ssh-add and psql refuse a file that others may read. Its owner can change the mode,
  /// but not the content, which is sealed.
  ///
  /// A limit on the sizes of files (`ulimit -f`) holds in memory too. A secret above it is in a pipe, which can be read once.
  ///
  /// - Throws: exit 13.
  package static func make(_ secret: SharedSecret) throws(CommandError) -> Int32 {
    guard UInt64(secret.byteCount) <= largestFile else { return try pipe(with: secret) }
    let file = clinux_memory_file()
    guard file >= 0 else {
      guard errno == ENOSYS || errno == EPERM else { throw .io("making a file in memory", errno: errno) }
      throw CommandError(
        .io, "the system allows no file in memory: it denies the call 'memfd_create'",
        hint: "allow it in the filter of system calls (seccomp) of the container or service")
    }
    do throws(CommandError) {
      let stream = OutputStream(descriptor: file, name: "a file in memory")
      try secret.expose { bytes throws(CommandError) in try stream.writeSecret(bytes) }
      guard lseek(file, 0, SEEK_SET) == 0, clinux_seal(file) == 0, fchmod(file, 0o400) == 0 else {
        throw .io("sealing a file in memory", errno: errno)
      }
    } catch {
      close(file)
      throw error
    }
    return file
  }

  /// A pipe that holds the secret and ends after it.
  private static func pipe(with secret: SharedSecret) throws(CommandError) -> Int32 {
    var ends: [Int32] = [-1, -1]
    guard unsafe clinux_pipe(&ends) == 0 else { throw .io("making a pipe", errno: errno) }
    let (reading, writing) = (ends[0], ends[1])
    defer { close(writing) }
    do throws(CommandError) {
      // What has room does not wait for a reader.
      guard clinux_pipe_room(writing, Int32(secret.byteCount)) == 0 else {
        throw .io("filling a pipe", errno: errno)
      }
      let stream = OutputStream(descriptor: writing, name: "a pipe")
      try secret.expose { bytes throws(CommandError) in try stream.writeSecret(bytes) }
    } catch {
      close(reading)
      throw error
    }
    return reading
  }

  /// The most bytes that a file of this process may have.
  private static var largestFile: UInt64 {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else { return .max }
    return UInt64(limit.rlim_cur)
  }

  /// The same file under a number that is none of `taken`. The old number ends.
  package static func moved(_ file: Int32, avoiding taken: Set<Int32>) throws(CommandError) -> Int32 {
    var file = file
    while taken.contains(file) {
      let other = fcntl(file, F_DUPFD_CLOEXEC, file + 1)
      guard other >= 0 else { throw .io("making a file in memory", errno: errno) }
      close(file)
      file = other
    }
    return file
  }

  /// What the file holds, and leaves it at its first byte. A pipe is replaced.
  package static func seen(_ file: inout Int32) throws(CommandError) -> SharedSecret {
    let content = SharedSecret(try content(of: file))
    guard lseek(file, 0, SEEK_SET) != 0 else { return content }
    let other = try make(content)
    close(file)
    file = other
    return content
  }

  /// What the file holds, whose descriptor is at its first byte.
  package static func content(of file: Int32) throws(CommandError) -> SecretBytes {
    var about = stat()
    guard unsafe fstat(file, &about) == 0 else { throw .io("reading a file in memory", errno: errno) }
    let isPipe = about.st_mode & S_IFMT == S_IFIFO
    let limit = isPipe ? SecretReading.longestSecret : Int(about.st_size)
    return try SecretReading.all(of: file, limit: limit, named: "file in memory")
  }

  /// Lets a program inherit `file` as descriptor `number`.
  package static func hand(over file: Int32, as number: Int32) throws(CommandError) {
    guard dup2(file, number) == number else { throw notHandedOver(as: number, errno) }
  }

  /// Lets a program inherit `file` under the number that it has.
  package static func hand(over file: Int32) throws(CommandError) {
    guard fcntl(file, F_SETFD, 0) == 0 else { throw notHandedOver(as: nil, errno) }
  }

  /// - Parameter number: `nil` for the number that the file has.
  static func notHandedOver(as number: Int32?, _ code: Int32) -> CommandError {
    guard let number else { return .io("handing over a file in memory", errno: code) }
    guard code == EBADF else { return .io("handing over descriptor \(number)", errno: code) }
    return .usage(
      "descriptor \(number) is beyond what this process may open", hint: "choose a smaller number")
  }
}
