package import SecretMemory

/// Reads secrets from descriptors straight into secret memory, never past a limit, with the errors of a command.
package enum SecretReading {
  /// The most bytes of an item's secret.
  package static let longestSecret = 1 << 20

  /// A ``TypedSecret``: to the end, one final newline dropped.
  package static func phrase(from descriptor: Int32, named name: String) throws(CommandError) -> SecretBytes {
    let bytes = try all(of: descriptor, limit: TypedSecret.longest + 1, named: name)
    return try checkPhrase(SecretInput.droppingNewline(bytes), named: name)
  }

  package static func checkPhrase(_ bytes: consuming SecretBytes, named name: String) throws(CommandError)
    -> SecretBytes
  {
    switch bytes.typingFault {
    case nil: return bytes
    case .empty: throw .malformed("the \(name) is empty")
    case .tooLong: throw tooLong(name, limit: TypedSecret.longest)
    case .containsNUL: throw .malformed("the \(name) has a NUL byte")
    }
  }

  /// Everything up to the end, byte for byte.
  ///
  /// - Throws: exit 12 beyond `limit` bytes, 13 when reading fails.
  package static func all(of descriptor: Int32, limit: Int, named name: String) throws(CommandError)
    -> SecretBytes
  {
    do throws(SecretInput.Fault) { return try SecretInput.all(of: descriptor, limit: limit) } catch {
      switch error {
      case .tooLong: throw tooLong(name, limit: limit)
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
      case TypedSecret.longest + 1: "\(TypedSecret.longest) bytes"
      case (1 << 20)...: "\(limit >> 20) MiB"
      case (64 << 10)... where limit % 1024 == 0: "\(limit >> 10) KiB"
      default: "\(limit) bytes"
      }
    return .malformed("the \(name) is too long, at most \(size) are allowed")
  }
}
