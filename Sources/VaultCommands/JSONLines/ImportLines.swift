import AuthenticatorKit
package import CommandLineKit
import Glibc
import SecretMemory
import VaultKit
import VaultWords

/// The lines of an import. All of them are judged before the first one is stored.
///
/// Those of a file are then read again, because there can be more of them than fit into memory. Those of a pipe are kept, up to
/// ``mostKept``: an agent or a keeper reads for others, and they could give it lines without end.
package struct ImportLines {
  private let descriptor: Int32
  private let allowsWeak: Bool
  /// Where the lines begin; `nil` in a pipe.
  private let start: off_t?
  private var kept: [ItemLine] = []
  private var keptBytes = 0
  private let mostKept: Int
  package private(set) var count = 0
  /// Whether a line makes an item that only an unlocked vault takes.
  private(set) var needUnlock = false
  /// Whether a line is a credential, whose codes are compared with those that were used here.
  private(set) var haveCredentials = false
  /// The hash values of all names.
  private(set) var names: Set<Int> = []

  /// Reads and judges all lines.
  ///
  /// - Parameters:
  ///   - allowsWeak: Whether credentials may be weak.
  ///   - interruption: Of the command: it ends the reading, which can have no end.
  ///   - mostKept: The most bytes of a pipe.
  ///   - note: Called with each line that cannot be read, where there are several.
  /// - Throws: An error that counts them.
  package init(
    _ descriptor: Int32, allowingWeak allowsWeak: Bool, endedBy interruption: Interruption,
    keepingAtMost mostKept: Int = mostKept, note: (String) -> Void
  ) throws(CommandError) {
    self.descriptor = descriptor
    (self.allowsWeak, self.mostKept) = (allowsWeak, mostKept)
    var status = stat()
    let isFile = unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    let position = lseek(descriptor, 0, SEEK_CUR)
    start = isFile && position >= 0 ? position : nil
    let reader = ItemLineReader(descriptor: descriptor, allowingWeak: allowsWeak)
    var before: ItemLine.Before?
    var failures: [CommandError] = []
    var failureCount = 0
    while true {
      let number = reader.line
      do throws(VaultError) { try interruption.check() } catch { throw CommandError(describing: error) }
      do throws(CommandError) {
        guard let line = try reader.next() else { break }
        // Of a line that cannot be read, nobody knows whether it is the entry.
        if failureCount == 0 { try line.checkOwner(before) }
        before = ItemLine.Before(line)
        count += 1
        names.insert(line.name.hashValue)
        if line.item.access.accessibility != .afterFirstUnlock { needUnlock = true }
        if line.item.kind == .otp { haveCredentials = true }
        if start == nil { try keep(line) }
      } catch {
        guard error.exit == .malformed else { throw error }
        failureCount += 1
        if failures.count < Self.mostNamed { failures.append(error.inLine(max(number, reader.line))) }
        try reader.skipLine()
      }
    }
    guard let first = failures.first else { return }
    guard failureCount > 1 else { throw first }
    for failure in failures { note(failure.message) }
    throw .malformed(
      "\(failureCount) lines cannot be read; the first is \(first.message)",
      hint: "nothing was imported; fix the lines and import again")
  }

  private mutating func keep(_ line: ItemLine) throws(CommandError) {
    keptBytes += line.secretByteCount + Self.bytesOfAttributes
    guard keptBytes <= mostKept else {
      throw CommandError(
        .refused, "a pipe with more than \(mostKept >> 20) MiB of items is not imported",
        hint: "write them into a file and name it: vaultctl import jsonl FILE", code: "importTooLong")
    }
    kept.append(line)
  }

  func forEach(_ body: (ItemLine) throws -> Void) throws {
    guard let start else { return try kept.forEach(body) }
    guard lseek(descriptor, start, SEEK_SET) == start else {
      throw CommandError.io("reading the items again", errno: errno)
    }
    let reader = ItemLineReader(descriptor: descriptor, allowingWeak: allowsWeak)
    var left = count
    while let line = try reader.next() {
      left -= 1
      try body(line)
    }
    guard left == 0 else { throw Self.changed }
  }

  static var changed: CommandError {
    .malformed(
      "the file with the items was changed while it was read", hint: "nothing was imported; try again")
  }

  private static let mostNamed = 20
  package static let mostKept = 64 << 20
  /// What a line counts besides its secret.
  private static let bytesOfAttributes = 512
}
