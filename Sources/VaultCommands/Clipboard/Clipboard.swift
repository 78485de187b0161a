import CLinux
import Glibc
import SecretMemory
import VaultKit

/// A place for a secret that a person pastes from: a program of the desktop, or the terminal itself.
enum Clipboard: Sendable, Equatable {
  case program(ClipboardProgram)
  /// OSC 52: the terminal is asked to take it, and does not tell whether it did.
  case terminal

  /// The word for it in JSON and messages.
  var word: String {
    switch self {
    case .program(let program): program.copy[0]
    case .terminal: "osc52"
    }
  }

  /// What can be tried here, best first.
  static func candidates(_ environment: Environment) -> [Clipboard] {
    var found: [Clipboard] = []
    if isSet("DISPLAY", environment) { found += [.program(.xclip), .program(.xsel)] }
    if isSet("WAYLAND_DISPLAY", environment) {
      // wl-copy keeps what it serves in a file of its own in /tmp: on a disk it comes last.
      found.insert(.program(.wlClipboard), at: ClipboardProgram.keepsFilesInMemory ? 0 : found.count)
    }
    let terminal = environment["TERM"] ?? ""
    if !["", "dumb", "linux"].contains(terminal) { found.append(.terminal) }
    return found
  }

  private static func isSet(_ name: String, _ environment: Environment) -> Bool {
    !(environment[name] ?? "").isEmpty
  }
}

/// A program that owns the clipboard of a desktop; the secret goes in and out through pipes, never as a word.
struct ClipboardProgram: Sendable, Equatable {
  let copy: [String]
  let paste: [String]
  let clear: [String]

  static let wlClipboard = ClipboardProgram(
    copy: ["wl-copy", "--type", "text/plain;charset=utf-8"], paste: ["wl-paste", "--no-newline"],
    clear: ["wl-copy", "--clear"])
  static let xclip = ClipboardProgram(
    copy: ["xclip", "-selection", "clipboard", "-in"], paste: ["xclip", "-selection", "clipboard", "-out"],
    clear: ["xclip", "-selection", "clipboard", "-in"])
  static let xsel = ClipboardProgram(
    copy: ["xsel", "--clipboard", "--input"], paste: ["xsel", "--clipboard", "--output"],
    clear: ["xsel", "--clipboard", "--clear"])

  /// Whether /tmp is on no disk (tmpfs).
  static var keepsFilesInMemory: Bool {
    let folder = unsafe clinux_hold_folder("/tmp")
    guard folder >= 0 else { return false }
    defer { close(folder) }
    return clinux_file_system_type(folder) == 0x0102_1994
  }

  /// Puts a secret there; false when the program is absent, fails or does not end.
  func take(_ secret: SecretBox) -> Bool {
    Pipeline.run(copy, giving: secret)
  }

  /// Empties the clipboard where it still holds the secret.
  func clear(if fingerprint: SecretFingerprint) {
    guard let held = Pipeline.output(of: paste, limit: SecretReading.longestSecret) else { return }
    guard held.expose({ fingerprint.matches($0) }) else { return }
    _ = Pipeline.run(clear, giving: nil)
  }
}
