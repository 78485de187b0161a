import Glibc

extension VaultLog {
  /// One line, masked. No sink gets more than this.
  public struct Line: Sendable, CustomStringConvertible {
    /// What the line is about; `nil` for the two lines that warn of an unmasked log.
    public let tag: Tag?
    /// How important the line is.
    public let level: Level
    /// The file of the library that wrote the line, without its ending.
    public let file: String
    /// The line in that file.
    public let number: UInt
    /// What the line says, masked.
    public let text: String
    /// The whole line, without a newline: `time process[pid:tid] [TAG] [LEVEL] File.line : text`.
    public let description: String
  }

  /// Who gets the lines of a log.
  public struct Sink: Sendable {
    let write: @Sendable (Line) -> Void

    /// Calls the closure for each line, on the thread that logs, which may hold the lock of a vault: the closure must
    /// not use a vault, and returns soon. Several threads may call it at once.
    public init(_ write: @escaping @Sendable (Line) -> Void) { self.write = write }

    /// Writes each line to standard error.
    public static var standardError: Sink { .descriptor(STDERR_FILENO) }

    /// Writes each line to an open descriptor, in one piece where the system permits it. A failure is ignored. A
    /// program that writes to a pipe should ignore SIGPIPE.
    public static func descriptor(_ descriptor: Int32) -> Sink {
      Sink { line in
        let bytes = Array((line.description + "\n").utf8)
        var done = 0
        while done < bytes.count {
          let count = unsafe bytes[done...].withUnsafeBytes {
            unsafe writeBytes(descriptor, $0.baseAddress, $0.count)
          }
          if count > 0 { done += count } else if count == 0 || errno != EINTR { return }
        }
      }
    }
  }
}

/// Inside ``VaultLog/Sink``, `write` is its closure.
private let writeBytes = unsafe Glibc.write
