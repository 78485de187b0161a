import CLinux
import Glibc
import TextFormats

/// Shows a long text a screen at a time: by the command in `$PAGER`, else by `less`, where a person is at a terminal.
///
/// A pager that is not there, that ends early or that fails takes nothing from the person: the text is printed, or was shown. What it is
/// given has no secret in it, and so has its environment none.
package struct Pager {
  /// A command for `sh -c`.
  private let command: String
  /// Variables that it gets besides those of this process.
  private let variables: [String]

  /// - Returns: nil where none is wanted or none is there: `PAGER` is empty or `cat`, or `TERM` is `dumb`.
  package init?(_ environment: Environment) {
    guard !["", "dumb"].contains(environment["TERM"] ?? "") else { return nil }
    if let given = environment["PAGER"] {
      let words = given.split(separator: " " as Character)
      guard !words.isEmpty, words != ["cat"] else { return nil }
      command = given
    } else {
      guard Self.isThere("less", path: environment["PATH"]) else { return nil }
      command = "less"
    }
    // As git does: less ends where the text fits, shows colors, and leaves the text on the screen.
    variables = environment["LESS"] == nil ? ["LESS=FRX"] : []
  }

  /// Prints a text, through a pager where it is longer than the screen of a terminal.
  ///
  /// - Parameter rowCount: How many rows the text takes, where the caller knows it.
  /// - Throws: What writing throws.
  package static func print(
    _ text: String, rowCount: Int? = nil, to output: OutputStream, in environment: Environment
  ) throws(CommandError) {
    try output.flush()
    if output.isTerminal {
      let size = output.terminalSize
      // The line for the next command is on the screen too.
      if rowCount ?? size.rowCount(of: text) >= size.rows, Pager(environment)?.show(text) == true { return }
    }
    try output.write(text)
    try output.flush()
  }

  /// Runs the pager to its end.
  ///
  /// - Returns: Whether it was there. If not, nothing was shown.
  private func show(_ text: String) -> Bool {
    var ends: [Int32] = [-1, -1]
    guard unsafe clinux_pipe(&ends) == 0 else { return false }
    let process = start(reading: ends[0])
    close(ends[0])
    guard process > 0 else {
      close(ends[1])
      return false
    }
    // Ctrl-C is a key of the pager.
    let before = [SIGINT, SIGQUIT, SIGPIPE].map { ($0, signal($0, SIG_IGN)) }
    Self.write(text, to: ends[1])
    close(ends[1])
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
    for (number, action) in before { _ = signal(number, action) }
    // A shell says so by these codes where it starts nothing.
    return ![126, 127].contains(status >> 8 & 0xFF) || status & 0x7F != 0
  }

  private func start(reading input: Int32) -> pid_t {
    unsafe Self.withPointers(to: ["/bin/sh", "-c", command]) { words in
      unsafe Self.withPointers(to: variables) { unsafe clinux_spawn_shown(words, $0, input, 1) }
    }
  }

  /// Writes until the pager no longer reads.
  private static func write(_ text: String, to descriptor: Int32) {
    let bytes = Array(text.utf8)
    var offset = 0
    while offset < bytes.count {
      let written = unsafe bytes.withUnsafeBytes {
        unsafe Glibc.write(descriptor, $0.baseAddress! + offset, bytes.count - offset)
      }
      if written > 0 { offset += written } else if errno != EINTR { return }
    }
  }

  private static func isThere(_ program: String, path: String?) -> Bool {
    (path ?? "/usr/bin:/bin").split(separator: ":" as Character)
      .contains { unsafe access("\($0)/\(program)", X_OK) == 0 }
  }

  private static func withPointers<R>(
    to texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> R
  ) -> R {
    let copies = unsafe texts.map { unsafe strdup($0) } + [nil]
    defer { unsafe copies.forEach { unsafe free($0) } }
    return unsafe copies.withUnsafeBufferPointer { unsafe body($0.baseAddress!) }
  }
}
