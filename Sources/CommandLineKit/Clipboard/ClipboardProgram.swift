import CLinux
import Glibc
package import SecretMemory

/// A program that owns the clipboard of a desktop; the secret goes in and out through pipes, never as a word.
package struct ClipboardProgram: Sendable, Equatable {
  package let copy: [String]
  package let paste: [String]
  package let clear: [String]

  package static let wlClipboard = ClipboardProgram(
    copy: ["wl-copy", "--type", "text/plain;charset=utf-8"], paste: ["wl-paste", "--no-newline"],
    clear: ["wl-copy", "--clear"])
  package static let xclip = ClipboardProgram(
    copy: ["xclip", "-selection", "clipboard", "-in"], paste: ["xclip", "-selection", "clipboard", "-out"],
    clear: ["xclip", "-selection", "clipboard", "-in"])
  package static let xsel = ClipboardProgram(
    copy: ["xsel", "--clipboard", "--input"], paste: ["xsel", "--clipboard", "--output"],
    clear: ["xsel", "--clipboard", "--clear"])

  /// Whether /tmp is on no disk (tmpfs).
  package static var keepsFilesInMemory: Bool {
    let folder = unsafe clinux_hold_folder("/tmp")
    guard folder >= 0 else { return false }
    defer { close(folder) }
    return clinux_file_system_type(folder) == 0x0102_1994
  }

  /// How long a program that hangs is waited for.
  package static let usualPatience = Duration.seconds(5)

  /// Puts a secret there; false when the program is absent, fails or does not end.
  package func take(_ secret: SharedSecret, within patience: Duration) -> Bool {
    Pipeline.run(copy, giving: secret, within: patience)
  }

  /// Empties the clipboard when it still holds the secret.
  ///
  /// - Parameter isSecret: Whether these bytes are the secret.
  package func clear(within patience: Duration, if isSecret: (RawSpan) -> Bool) {
    let limit = SecretReading.longestSecret
    guard let held = Pipeline.output(of: paste, limit: limit, within: patience) else { return }
    guard held.expose(isSecret) else { return }
    _ = Pipeline.run(clear, giving: nil, within: patience)
  }
}
