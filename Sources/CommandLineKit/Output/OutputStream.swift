import Glibc
import SecretMemory
import TextFormats

/// Standard output, standard error or another descriptor. Public text is collected; secrets are written from their own memory.
///
/// The first failed write is an error and every later one too: a result that was not delivered is no success.
package final class OutputStream: TextOutput {
  private let descriptor: Int32
  private let name: String
  private let hint: String?
  private var gathered: [UInt8] = []
  /// Whether a bar of progress stands on the last line of the terminal.
  var showsProgress = false
  /// Whether the program that read this has gone away, as `head` does.
  package private(set) var hasLostReader = false

  /// - Parameters:
  ///   - name: What an error calls it.
  ///   - hint: What an error advises.
  package init(descriptor: Int32, name: String, hint: String? = nil) {
    self.descriptor = descriptor
    self.name = name
    self.hint = hint
  }

  package var isTerminal: Bool { isatty(descriptor) == 1 }

  /// The size of the terminal that it is; 24 by 80 where it is none.
  package var terminalSize: TerminalSize { TerminalSize(of: descriptor) }

  /// Whether something can be written without a wait.
  var hasRoom: Bool {
    var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    return unsafe poll(&wait, 1, 0) > 0
  }

  package func write(bytes: [UInt8]) throws(CommandError) {
    gathered += bytes
    if gathered.count >= 64 << 10 { try flush() }
  }

  /// Writes a secret without a copy.
  package func writeSecret(_ bytes: RawSpan) throws(CommandError) {
    try flush()
    try writeAll(bytes)
  }

  /// Writes a secret in another spelling, in locked memory, `group` bytes of it at a time.
  package func writeSecret(
    _ bytes: RawSpan, through encode: (RawSpan, inout OutputRawSpan) -> Void, group: Int
  ) throws(CommandError) {
    var offset = 0
    while offset < bytes.byteCount {
      let end = min(offset + group, bytes.byteCount)
      let encoded = SecretBytes(capacity: 6 * group) { encode(bytes.extracting(offset..<end), &$0) }
      try encoded.expose { span throws(CommandError) in try writeSecret(span) }
      offset = end
    }
  }

  package func flush() throws(CommandError) {
    guard !gathered.isEmpty else { return }
    let bytes = gathered
    gathered = []
    try unsafe writeAll(bytes.span.bytes)
  }

  private func writeAll(_ bytes: RawSpan) throws(CommandError) {
    let problem = SecretOutput.write(bytes, to: descriptor)
    guard problem != 0 else { return }
    if problem == EPIPE { hasLostReader = true }
    throw failure(problem)
  }

  private func failure(_ code: Int32) -> CommandError {
    .io("writing \(name)", errno: code, hint: hint)
  }
}
