import Glibc
package import SecretMemory
import TextFormats

/// OSC 52 of xterm and its followers: `ESC ] 52 ; c ; BASE64 BEL`.
///
/// The answer to "what do you hold" is switched off nearly everywhere, because any program could ask: whether the
/// terminal took the secret, and whether it still has it, cannot be known.
package enum TerminalClipboard {
  /// What terminals take at least.
  package static let longest = 54 << 10

  /// The terminal of this process, opened by its name and never one of the standard descriptors; nil where there is
  /// none.
  package static func open(_ path: String) -> Int32? {
    let terminal = unsafe Glibc.open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC)
    guard terminal >= 0 else { return nil }
    guard isatty(terminal) == 1 else {
      close(terminal)
      return nil
    }
    return terminal
  }

  package static func give(_ secret: SharedSecret, to terminal: Int32) throws(CommandError) {
    let stream = OutputStream(descriptor: terminal, name: "the terminal")
    try stream.write("\u{1B}]52;c;")
    try secret.expose { bytes throws(CommandError) in
      try stream.writeSecret(bytes, through: Base64.encode, group: Base64.groupByteCount)
    }
    try stream.write("\u{07}")
    try stream.flush()
  }

  /// An empty text takes the place of what it holds: `!` is no base64 and means "clear" to all of them.
  package static func clear(_ terminal: Int32) {
    let stream = OutputStream(descriptor: terminal, name: "the terminal")
    try? stream.write("\u{1B}]52;c;!\u{07}")
    try? stream.flush()
  }
}
