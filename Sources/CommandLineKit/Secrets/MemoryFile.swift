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
  /// - Throws: exit 13.
  package static func make(_ secret: SharedSecret) throws(CommandError) -> Int32 {
    let file = clinux_memory_file()
    guard file >= 0 else { throw .io("making a file in memory", errno: errno) }
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

  /// What the file holds, whose descriptor is at its first byte.
  package static func content(of file: Int32) throws(CommandError) -> SecretBytes {
    var about = stat()
    guard unsafe fstat(file, &about) == 0 else { throw .io("reading a file in memory", errno: errno) }
    return try SecretReading.all(of: file, limit: Int(about.st_size), named: "file in memory")
  }

  /// Lets a program inherit `file` as descriptor `number`.
  package static func hand(over file: Int32, as number: Int32) throws(CommandError) {
    guard dup2(file, number) == number else {
      guard errno == EBADF else { throw .io("handing over descriptor \(number)", errno: errno) }
      throw .usage(
        "descriptor \(number) is beyond what this process may open", hint: "choose a smaller number")
    }
  }

  /// Lets a program inherit `file` under the number that it has.
  package static func hand(over file: Int32) throws(CommandError) {
    guard fcntl(file, F_SETFD, 0) == 0 else { throw .io("handing over a file in memory", errno: errno) }
  }
}
