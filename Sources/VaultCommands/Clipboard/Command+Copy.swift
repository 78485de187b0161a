import CLinux
import CommandLineKit
import Glibc
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

extension Command {
  /// Puts a secret into the clipboard for the time of `--copy`.
  ///
  /// - Parameter fields: What the result says of the item.
  /// - Throws: exit 9 where there is no clipboard.
  func copy(_ secret: SharedSecret, fields: [Field]) throws -> Outcome {
    let seconds = self[ItemOptions.copy] ?? 30
    let fingerprint = try secret.expose { bytes throws(VaultError) in try SecretFingerprint(of: bytes) }
    for clipboard in Clipboard.candidates(in: world.environment) {
      guard try take(secret, clipboard: clipboard, fingerprint: fingerprint, seconds: seconds) else {
        continue
      }
      note(clipboard, seconds: seconds)
      return Outcome(
        json: .object {
          fields
          Field("copied", true)
          Field("clipboard", clipboard.word)
          Field("clearedAfter", seconds)
        })
    }
    throw CommandError(
      .refused, "there is no clipboard here: wl-copy, xclip or xsel with a display, or a terminal",
      hint: "install wl-clipboard (Wayland) or xclip (X11), or leave --copy out", code: "noClipboard")
  }

  private func take(
    _ secret: SharedSecret, clipboard: Clipboard, fingerprint: SecretFingerprint, seconds: Int64
  ) throws -> Bool {
    switch clipboard {
    case .program(let program):
      let patience = world.patience.clipboard
      guard program.take(secret, within: patience) else { return false }
      try ClipboardWatch.start(seconds: seconds, keeping: -1, waiting: world.clipboardWait) { _ in
        program.clear(within: patience) { fingerprint.matches($0) }
      }
    case .terminal:
      guard let terminal = TerminalClipboard.open(world.terminalPath) else { return false }
      defer { close(terminal) }
      guard secret.byteCount <= TerminalClipboard.longest else {
        throw CommandError(
          .refused, "the secret is too long for the clipboard of a terminal",
          hint: "at most \(TerminalClipboard.longest >> 10) KiB; write it to a pipe instead")
      }
      try TerminalClipboard.give(secret, to: terminal)
      try ClipboardWatch.start(seconds: seconds, keeping: terminal, waiting: world.clipboardWait) {
        TerminalClipboard.clear($0)
      }
    }
    return true
  }

  private func note(_ clipboard: Clipboard, seconds: Int64) {
    let time = Durations.text(seconds: seconds)
    switch clipboard {
    case .program(let program):
      if program == .wlClipboard, !ClipboardProgram.keepsFilesInMemory {
        messages.note("wl-copy keeps it meanwhile in a private file in /tmp, which is on a disk here")
      }
      messages.note("copied; the clipboard is cleared in \(time) if it still holds this")
    case .terminal:
      messages.note("the terminal was asked to copy it, and is asked to clear its clipboard in \(time)")
      messages.note("it does not tell whether it did: paste to see, and copy something else when in doubt")
    }
  }
}
