import Glibc
import SecretMemory

/// A file with one secret in it, opened only when nobody else can read or change it.
enum SecretFile {
  /// - Throws: exit 13 for a file that is not ours, not 0600 or 0400, a link, or no file; 12 for what is in it.
  static func read(_ path: String, named name: String) throws(CommandError) -> SecretBytes {
    let file = try openFile(path, named: name)
    defer { close(file) }
    let status = try status(of: file, named: name)
    guard status.st_uid == geteuid() else { throw refusal(name, "belongs to another user") }
    guard [0o600, 0o400].contains(status.st_mode & 0o7777) else {
      throw refusal(
        name, "can be read or changed by others", hint: "chmod 600 it, or give the secret by a descriptor")
    }
    return try SecretReading.phrase(from: file, named: name)
  }

  /// A credential of systemd, or nil when there is none. systemd may keep it as root's and let us in by an ACL,
  /// which shows as a group bit.
  static func credential(_ path: String, named name: String) throws(CommandError) -> SecretBytes? {
    guard unsafe access(path, F_OK) == 0 else { return nil }
    let file = try openFile(path, named: name)
    defer { close(file) }
    let status = try status(of: file, named: name)
    guard status.st_uid == geteuid() || status.st_uid == 0, status.st_mode & 0o037 == 0 else {
      throw refusal(name, "in $CREDENTIALS_DIRECTORY can be read or changed by others")
    }
    return try SecretReading.phrase(from: file, named: name)
  }

  /// Without waiting for the other end of a fifo.
  private static func openFile(_ path: String, named name: String) throws(CommandError) -> Int32 {
    let file = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard file >= 0 else { throw .io("opening the file with the \(name)", errno: errno) }
    return file
  }

  private static func status(of file: Int32, named name: String) throws(CommandError) -> stat {
    var status = stat()
    guard unsafe fstat(file, &status) == 0 else {
      throw .io("reading the file with the \(name)", errno: errno)
    }
    guard status.st_mode & S_IFMT == S_IFREG else { throw refusal(name, "is no regular file") }
    return status
  }

  private static func refusal(_ name: String, _ why: String, hint: String? = nil) -> CommandError {
    CommandError(.io, "the file with the \(name) \(why)", hint: hint)
  }
}
