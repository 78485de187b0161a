import Glibc
public import SecretMemory
import VaultCrypto
import TextPreparation
import VaultFormat
import VaultKeys

/// Secrets from outside the program, read straight into secret memory, and random ones: at most 1 MiB, the longest
/// secret of an item. And the way out, to a descriptor.
extension SecretBytes {
  /// Everything that a descriptor gives up to its end. Blocks until the end, and leaves the descriptor open.
  ///
  /// - Parameters:
  ///   - descriptor: The descriptor.
  ///   - keepingNewline: Whether the bytes are the secret as they are. Otherwise a byte order mark at the beginning and one end of
  ///     line at the end are no part of it, and UTF-16 is refused.
  /// - Throws: ``VaultError/Code/malformed`` for more than 1 MiB, ``VaultError/Code/io`` for a descriptor that cannot
  ///   be read.
  public static func contents(
    ofDescriptor descriptor: Int32, keepingNewline: Bool = false
  ) throws(VaultError) -> SecretBytes {
    try read(descriptor, named: "descriptor \(descriptor)", keepingNewline: keepingNewline)
  }

  /// The contents of a regular file of this user that nobody else can read or change: mode 0600, 0400 or 0440; or of a file of root that
  /// only root and its group can change. A link is followed where only root and this user decide what the path leads to.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - keepingNewline: Whether the bytes are the secret as they are. Otherwise a byte order mark at the beginning and one end of
  ///     line at the end are no part of it, and UTF-16 is refused.
  /// - Throws: ``VaultError/Code/malformed`` for more than 1 MiB, a NUL in the path, or a vault that is open in this process;
  ///   ``VaultError/Code/io`` for a file that is missing, is not private or cannot be read.
  public static func contents(
    ofFile path: String, keepingNewline: Bool = false
  ) throws(VaultError) -> SecretBytes {
    guard !path.utf8.contains(0) else { throw VaultError(.malformed, "a path contains no NUL") }
    guard !VaultNames.isOpenVault(path: path) else {
      throw VaultError(
        .malformed, "\(shown(path)) is a vault that this program has open, or a file beside it",
        hint: "name the file that has the secret")
    }
    let file: Int32
    do throws(SecretInput.FileFault) { file = try SecretInput.open(path) } catch {
      throw VaultError(error, path: path)
    }
    defer { VaultNames.close(file) }
    return try read(file, named: shown(path), keepingNewline: keepingNewline)
  }

  /// A credential that systemd gives to this service in `$CREDENTIALS_DIRECTORY` (`LoadCredential=` of the unit);
  /// `nil` if the service has no credential of this name.
  ///
  /// - Parameters:
  ///   - name: The name in the unit, a file name.
  ///   - keepingNewline: Whether the bytes are the secret as they are. Otherwise a byte order mark at the beginning and one end of
  ///     line at the end are no part of it, and UTF-16 is refused.
  /// - Throws: ``VaultError/Code/malformed`` for more than 1 MiB or another name, ``VaultError/Code/io`` for a file
  ///   that others can read or change, or that cannot be read.
  public static func credential(
    _ name: String, keepingNewline: Bool = false
  ) throws(VaultError) -> SecretBytes? {
    let folder = unsafe getenv("CREDENTIALS_DIRECTORY").map { unsafe String(cString: $0) }
    return try credential(name, in: folder, keepingNewline: keepingNewline)
  }

  /// - Parameter folder: The directory of the credentials; `nil` for a program without credentials.
  package static func credential(
    _ name: String, in folder: String?, keepingNewline: Bool = false
  ) throws(VaultError) -> SecretBytes? {
    guard ![".", "..", ""].contains(name),
      !name.utf8.contains(where: { [0, UInt8(ascii: "/")].contains($0) })
    else { throw VaultError(.malformed, "the name of a credential is a file name without a directory") }
    guard let folder, folder.hasPrefix("/") else { return nil }
    let path = folder + "/" + name
    let file: Int32
    do throws(SecretInput.FileFault) { file = try SecretInput.open(path) } catch {
      if case .failed(ENOENT) = error { return nil }
      throw VaultError(error, path: path)
    }
    defer { VaultNames.close(file) }
    return try read(file, named: shown(path), keepingNewline: keepingNewline)
  }

  /// Writes the bytes to a descriptor, such as the pipe to another program, and adds no newline. Waits until all are
  /// written, and leaves the descriptor open. As with each write to a pipe that nobody reads any more, `SIGPIPE` ends a
  /// program that does not ignore it.
  ///
  /// - Throws: ``VaultError/Code/io``; a part may then be written.
  public func write(toDescriptor descriptor: Int32) throws(VaultError) {
    let code = expose { SecretOutput.write($0, to: descriptor) }
    guard code == 0 else {
      throw VaultError(.io, "writing to descriptor \(descriptor) failed", underlying: code)
    }
  }

  /// Random bytes, such as a key.
  ///
  /// - Precondition: `byteCount` is 0 to 1,048,576.
  /// - Throws: ``VaultError/Code/io`` if the random generator fails. There are never weaker bytes instead.
  public static func random(byteCount: Int) throws(VaultError) -> SecretBytes {
    precondition(0...1 << 20 ~= byteCount, "SecretBytes.random(byteCount:): 0 to 1 MiB")
    return try SystemRandom().newSecret(byteCount)
  }

  /// Random letters and digits of ASCII, each of the 62 equally likely: 5.95 bits a character. 22 characters are as
  /// hard to guess as a key of 128 bits.
  ///
  /// - Precondition: `characterCount` is 0 to 1,048,576.
  /// - Throws: ``VaultError/Code/io`` if the random generator fails.
  public static func random(characterCount: Int) throws(VaultError) -> SecretBytes {
    precondition(0...1 << 20 ~= characterCount, "SecretBytes.random(characterCount:): 0 to 1 MiB")
    let alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    return try characters(characterCount, of: Array(alphabet.utf8), from: SystemRandom().newSecret)
  }

  private static func read(
    _ file: Int32, named what: String, keepingNewline: Bool
  ) throws(VaultError) -> SecretBytes {
    let bytes: SecretBytes
    do throws(SecretInput.Fault) {
      bytes = try SecretInput.all(of: file, limit: ItemLimits.secretByteCount)
    } catch {
      switch error {
      case .tooLong: throw VaultError(.malformed, "\(what) gives more than 1 MiB")
      case .notOpen: throw VaultError(.io, "\(what) is not open for reading", underlying: EBADF)
      case .failed(let code): throw VaultError(.io, "reading \(what) failed", underlying: code)
      }
    }
    if keepingNewline { return bytes }
    return try line(bytes, named: what)
  }

  private static func line(
    _ bytes: consuming SecretBytes, named what: String
  ) throws(VaultError) -> SecretBytes {
    do throws(TextLine.Fault) { return try TextLine.whole(bytes) } catch {
      throw VaultError(.malformed, error.message(what), hint: TextLine.Fault.hint)
    }
  }

  fileprivate static func shown(_ path: String) -> String { "the file \(VisibleText.escaped(path))" }
}

extension VaultError {
  fileprivate init(_ fault: SecretInput.FileFault, path: String) {
    let file = SecretBytes.shown(path)
    self =
      switch fault {
      case .failed(let code), .unexaminable(let code):
        VaultError(.io, "\(file) cannot be opened", underlying: code)
      case .notRegular: VaultError(.io, "\(file) is not a regular file")
      case .replaceable(let part):
        VaultError(
          .io, "\(file) can be replaced by others, who decide about \(VisibleText.escaped(part))",
          hint: "give a file whose directories and links only this user or root can change")
      case .foreign: VaultError(.io, "\(file) belongs to another user")
      case .exposed:
        VaultError(
          .io, "\(file) can be read or changed by others",
          hint: "give a file that only this user can read and change")
      }
  }
}
