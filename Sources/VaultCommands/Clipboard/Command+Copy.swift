import CLinux
import Glibc
import SecretMemory
import VaultKit

extension Command {
  /// Puts a secret into the clipboard for the time of `--copy`.
  ///
  /// - Parameter fields: What the result says of the item.
  /// - Throws: exit 9 where there is no clipboard.
  func copy(_ secret: SecretBox, _ fields: [(String, JSON)]) throws -> Outcome {
    let seconds = invocation.duration("copy") ?? 30
    let fingerprint = try secret.expose { bytes throws(VaultError) in try SecretFingerprint(of: bytes) }
    for clipboard in Clipboard.candidates(world.environment) {
      guard try take(secret, clipboard, fingerprint, seconds) else { continue }
      note(clipboard, seconds)
      return Outcome(
        json: .object(
          fields + [
            ("copied", .boolean(true)), ("clipboard", .string(clipboard.word)),
            ("clearedAfter", .integer(seconds)),
          ]))
    }
    throw CommandError(
      .refused, "there is no clipboard here: wl-copy, xclip or xsel with a display, or a terminal",
      hint: "install wl-clipboard (Wayland) or xclip (X11), or leave --copy out", code: "noClipboard")
  }

  private func take(
    _ secret: SecretBox, _ clipboard: Clipboard, _ fingerprint: SecretFingerprint, _ seconds: Int64
  ) throws -> Bool {
    switch clipboard {
    case .program(let program):
      guard program.take(secret) else { return false }
      try ClipboardWatch.start(seconds: seconds, keeping: -1) { _ in program.clear(if: fingerprint) }
    case .terminal:
      guard let terminal = TerminalClipboard.open(world.terminalPath) else { return false }
      defer { close(terminal) }
      guard secret.byteCount <= TerminalClipboard.longest else {
        throw CommandError(
          .refused, "the secret is too long for the clipboard of a terminal",
          hint: "at most \(TerminalClipboard.longest >> 10) KiB; write it to a pipe instead")
      }
      try TerminalClipboard.give(secret, to: terminal)
      try ClipboardWatch.start(seconds: seconds, keeping: terminal) { TerminalClipboard.clear($0) }
    }
    return true
  }

  private func note(_ clipboard: Clipboard, _ seconds: Int64) {
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

/// The process that outlives the command and clears the clipboard.
enum ClipboardWatch {
  /// Begins to wait in a process of its own, which ends after `clear`.
  ///
  /// The child has neither the vault nor the secret: secret memory is not inherited, and every descriptor but `kept`
  /// is closed. It is in a session of its own, so it outlives the terminal; a request to end makes it clear at once.
  /// All this is so when `start` returns.
  static func start(seconds: Int64, keeping kept: Int32, _ clear: (Int32) -> Void) throws(CommandError) {
    var ends = sigset_t()
    unsafe sigemptyset(&ends)
    for signal in [SIGTERM, SIGHUP, SIGINT] { unsafe sigaddset(&ends, signal) }
    let place = unsafe clinux_detach(kept, &ends)
    if place == -2 { return }
    guard place >= 0 else {
      throw .io(
        "starting the process that clears the clipboard", errno: errno,
        hint: "the clipboard holds the secret now: copy something else")
    }
    wait(seconds, &ends)
    clear(place)
    _exit(0)
  }

  /// Until a request to end, or the time on the clock that counts suspend, so that a sleeping laptop does not lengthen
  /// it.
  private static func wait(_ seconds: Int64, _ ends: inout sigset_t) {
    let deadline = milliseconds + seconds * 1000
    while case let left = deadline - milliseconds, left > 0 {
      let pause = min(left, 1000)
      var time = timespec(tv_sec: Int(pause / 1000), tv_nsec: Int(pause % 1000) * 1_000_000)
      if unsafe sigtimedwait(&ends, nil, &time) > 0 { return }
    }
  }

  private static var milliseconds: Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_BOOTTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}
