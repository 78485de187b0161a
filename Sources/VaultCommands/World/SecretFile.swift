import CommandLineKit
import Glibc
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// A file that contains one secret. ``SecretInput/open(_:followsLinks:)`` decides whether it is believed.
enum SecretFile {
  /// - Throws: exit 13 if the file is not believed, or is not a regular file.
  static func open(_ path: String, of channel: SecretChannel) throws(CommandError) -> Int32 {
    let name = channel.title
    guard !isPipe(path) else {
      throw refusal(
        path, name: name, why: "is a pipe",
        hint: "a pipe is read by its descriptor: \(channel.options.descriptor.shown) 3 3< <(COMMAND)")
    }
    do throws(SecretInput.FileFault) { return try SecretInput.open(path) } catch {
      guard case .exposed = error else { throw failure(error, at: path, named: name) }
      throw refusal(
        path, name: name, why: "can be read or changed by others",
        hint: OwnFile.isOurs(path)
          ? "chmod 600 \(printable(path)), or give the secret by a descriptor"
          : "give a file in your home that only you may read, or give the secret by a descriptor")
    }
  }

  /// Makes a file of mode 0600 that contains a secret and a newline. The file and its name are durable when this
  /// returns. After an error there is no file.
  ///
  /// - Throws: exit 8 if the path already exists, 13 if writing fails.
  static func create(
    _ path: String, secret: borrowing SecretBytes, named name: String, in world: World
  ) throws(CommandError) {
    let file = try world.host.makeFile(path, interruption: world.interruption)
    let line = SecretBytes.joining(secret, SecretBytes(copying: [UInt8(ascii: "\n")]))
    guard line.expose({ write(all: $0, to: file.descriptor) }) else {
      throw .io("writing the file \(printable(path)) for the \(name)", errno: errno)
    }
    try file.finish()
  }

  private static func write(all bytes: RawSpan, to file: Int32) -> Bool {
    var rest = bytes
    while !rest.isEmpty {
      let count = retrying {
        Int32(clamping: unsafe rest.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) })
      }
      guard count > 0 else { return false }
      rest = rest.extracting(Int(count)..<rest.byteCount)
    }
    return true
  }

  /// Repeats a system call that a signal interrupts.
  private static func retrying(_ call: () -> Int32) -> Int32 {
    while true {
      let result = call()
      guard result < 0, errno == EINTR else { return result }
    }
  }

  /// A credential of systemd.
  static func openCredential(_ path: String, named name: String) throws(CommandError) -> Int32 {
    do throws(SecretInput.FileFault) { return try SecretInput.open(path) } catch {
      switch error {
      case .foreign, .exposed, .replaceable:
        throw refusal(path, name: name, why: "in $CREDENTIALS_DIRECTORY can be read or changed by others")
      default: throw failure(error, at: path, named: name)
      }
    }
  }

  /// Follows links, because the shell's `<(COMMAND)` makes one.
  private static func isPipe(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
  }

  private static func failure(_ fault: SecretInput.FileFault, at path: String, named name: String)
    -> CommandError
  {
    let file = "the file with the \(name), \(printable(path))"
    return switch fault {
    case .failed(let code): .io("opening \(file)", errno: code)
    case .unexaminable(let code): .io("reading \(file)", errno: code)
    case .notRegular: refusal(path, name: name, why: "is not a regular file")
    case .foreign: refusal(path, name: name, why: "belongs to another user")
    case .replaceable(let part):
      refusal(
        path, name: name, why: "can be replaced by others, who decide about \(printable(part))",
        hint: "give a file whose directories and links only you or root can change")
    case .exposed: refusal(path, name: name, why: "can be read or changed by others")
    }
  }

  private static func refusal(
    _ path: String, name: String, why: String, hint: String? = nil
  ) -> CommandError {
    CommandError(.io, "the file with the \(name), \(printable(path)), \(why)", hint: hint)
  }
}
