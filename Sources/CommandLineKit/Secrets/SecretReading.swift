package import SecretMemory
import TextPreparation

/// Reads secrets from descriptors straight into secret memory, never past a limit, with the errors of a command.
package enum SecretReading {
  /// The most bytes of an item's secret.
  package static let longestSecret = 1 << 20

  /// One line to the end, without the mark and the end of line that programs write around it.
  ///
  /// - Parameters:
  ///   - limit: The most bytes of the line.
  ///   - isTrimmed: The line has no blanks at its ends: those that are there are dropped.
  /// - Throws: exit 12 for a line that is empty, too long, UTF-16, or has a NUL.
  package static func line(
    from descriptor: Int32, limit: Int = TypedSecret.longest, named name: String, isTrimmed: Bool = false
  ) throws(CommandError) -> SecretBytes {
    // A byte order mark, and CR LF.
    let bytes = try all(of: descriptor, limit: limit + 5, told: limit, named: name)
    return try line(bytes, limit: limit, named: name, isTrimmed: isTrimmed)
  }

  /// The same, of bytes that were read, or that a person typed.
  package static func line(
    _ bytes: consuming SecretBytes, limit: Int = TypedSecret.longest, named name: String,
    isTrimmed: Bool = false
  ) throws(CommandError) -> SecretBytes {
    let line = try text(bytes, named: name) { (bytes) throws(TextLine.Fault) in
      try isTrimmed ? TextLine.trimmed(bytes) : TextLine.whole(bytes)
    }
    guard line.byteCount > 0 else { throw .malformed("the \(name) is empty") }
    guard line.byteCount <= limit else { throw tooLong(name, limit: limit) }
    guard !line.containsNUL else { throw .malformed("the \(name) has a NUL byte") }
    return line
  }

  /// Text whose ends have no blank, such as a URI, a key, a token or a code.
  package static func trimmed(
    _ bytes: consuming SecretBytes, named name: String
  ) throws(CommandError) -> SecretBytes {
    try text(bytes, named: name) { (bytes) throws(TextLine.Fault) in try TextLine.trimmed(bytes) }
  }

  /// A text of several lines, without a byte order mark.
  package static func unmarked(
    _ bytes: consuming SecretBytes, named name: String
  ) throws(CommandError) -> SecretBytes {
    try text(bytes, named: name) { (bytes) throws(TextLine.Fault) in try TextLine.unmarked(bytes) }
  }

  private static func text(
    _ bytes: consuming SecretBytes, named name: String,
    _ read: (consuming SecretBytes) throws(TextLine.Fault) -> SecretBytes
  ) throws(CommandError) -> SecretBytes {
    do throws(TextLine.Fault) { return try read(bytes) } catch {
      throw .malformed(error.message("the " + name), hint: TextLine.Fault.hint)
    }
  }

  /// Everything up to the end, byte for byte.
  ///
  /// - Throws: exit 12 beyond `limit` bytes, 13 when reading fails.
  package static func all(
    of descriptor: Int32, limit: Int, named name: String
  ) throws(CommandError) -> SecretBytes { try all(of: descriptor, limit: limit, told: limit, named: name) }

  /// - Parameter told: The limit that a person is told.
  private static func all(
    of descriptor: Int32, limit: Int, told: Int, named name: String
  ) throws(CommandError) -> SecretBytes {
    do throws(SecretInput.Fault) { return try SecretInput.all(of: descriptor, limit: limit) } catch {
      switch error {
      case .tooLong: throw tooLong(name, limit: told)
      case .notOpen:
        throw .usage(
          "descriptor \(descriptor) is not open for reading",
          hint: "open it in the shell, like \(descriptor)<FILE")
      case .failed(let code): throw .io("reading the \(name)", errno: code)
      }
    }
  }

  package static func tooLong(_ name: String, limit: Int) -> CommandError {
    let size =
      switch limit {
      case (1 << 20)...: "\(limit >> 20) MiB"
      case (64 << 10)... where limit % 1024 == 0: "\(limit >> 10) KiB"
      default: "\(limit) bytes"
      }
    return .malformed("the \(name) is too long, at most \(size) are allowed")
  }
}
