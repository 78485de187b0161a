import CLinux
package import CommandLineKit
import Glibc
package import SecretMemory
import VaultKit
import VaultWords

extension LocalHost {
  package func copyToClipboard(
    _ secret: SharedSecret, seconds: Int64
  ) throws(CommandError) -> CopiedSecret {
    let fingerprint = try fingerprint(of: secret)
    for clipboard in Clipboard.candidates(in: environment) {
      guard try take(secret, clipboard: clipboard, fingerprint: fingerprint, seconds: seconds) else {
        continue
      }
      return CopiedSecret(clipboard: clipboard.word, notes: notes(on: clipboard, seconds: seconds))
    }
    throw CommandError(
      .refused, "there is no clipboard here: wl-copy, xclip or xsel with a display, or a terminal",
      hint: "install wl-clipboard (Wayland) or xclip (X11), or leave --copy out", code: "noClipboard")
  }

  private func fingerprint(of secret: SharedSecret) throws(CommandError) -> SecretFingerprint {
    do throws(VaultError) {
      return try secret.expose { bytes throws(VaultError) in try SecretFingerprint(of: bytes) }
    } catch { throw CommandError(error) }
  }

  private func take(
    _ secret: SharedSecret, clipboard: Clipboard, fingerprint: SecretFingerprint, seconds: Int64
  ) throws(CommandError) -> Bool {
    switch clipboard {
    case .program(let program):
      let patience = clipboardPatience
      guard program.take(secret, within: patience) else { return false }
      try ClipboardWatch.start(seconds: seconds, keeping: -1, waiting: clipboardWait) { _ in
        program.clear(within: patience) { fingerprint.matches($0) }
      }
    case .terminal:
      guard let terminal = TerminalClipboard.open(terminalPath) else { return false }
      defer { close(terminal) }
      guard secret.byteCount <= TerminalClipboard.longest else {
        throw CommandError(
          .refused, "the secret is too long for the clipboard of a terminal",
          hint: "at most \(TerminalClipboard.longest >> 10) KiB; write it to a pipe instead")
      }
      try TerminalClipboard.give(secret, to: terminal)
      try ClipboardWatch.start(seconds: seconds, keeping: terminal, waiting: clipboardWait) {
        TerminalClipboard.clear($0)
      }
    }
    return true
  }

  private func notes(on clipboard: Clipboard, seconds: Int64) -> [String] {
    let time = Durations.text(seconds: seconds)
    switch clipboard {
    case .program(let program):
      let isOnDisk = program == .wlClipboard && !ClipboardProgram.keepsFilesInMemory
      return
        (isOnDisk
        ? ["wl-copy keeps it meanwhile in a private file in /tmp, which is on a disk here"] : [])
        + ["copied; the clipboard is cleared in \(time) if it still holds this"]
    case .terminal:
      return [
        "the terminal was asked to copy it, and is asked to clear its clipboard in \(time)",
        "it does not tell whether it did: paste to see, and copy something else when in doubt",
      ]
    }
  }
}
