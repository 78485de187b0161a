import CLinux
import CommandLineKit
import Glibc
import TrustedPaths
import VaultKit
import VaultWords

/// An editor that runs in the foreground of the person's terminal.
final class EditorRun {
  static let nothingChanged = "nothing was changed"

  private let process: pid_t
  /// Can be read when the process has ended.
  private let ended: Int32
  /// The state of the terminal before; `nil` where standard input is none.
  private let terminal: termios?
  /// Whether the editor was killed, and did not set the terminal back.
  private var wasKilled = false

  /// Starts it.
  ///
  /// - Throws: Exit 13 if it does not start.
  init(_ program: EditorProgram, on file: String) throws(CommandError) {
    var before = termios()
    terminal = unsafe tcgetattr(0, &before) == 0 ? before : nil
    // What prints the result may not be the terminal.
    let output: Int32 = isatty(1) == 1 ? 1 : 2
    let words = ["/bin/sh", "-c", program.command, "sh", file]
    let variables = program.variables.map { "\($0.name)=" + ($0.value ?? "") }
    process = unsafe Self.withPointers(to: words) { words in
      unsafe Self.withPointers(to: variables) { unsafe clinux_spawn_shown(words, $0, 0, output) }
    }
    guard process > 0 else { throw .io("starting the editor", errno: errno) }
    ended = clinux_watch_process(process)
    guard ended >= 0 else {
      let problem = errno
      kill(process, SIGKILL)
      _ = waitpid(process, nil, 0)
      throw .io("starting the editor", errno: problem)
    }
  }

  private static func withPointers<R>(
    to texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> R
  ) -> R {
    let copies = unsafe texts.map { unsafe strdup($0) } + [nil]
    defer { unsafe copies.forEach { unsafe free($0) } }
    return unsafe copies.withUnsafeBufferPointer { unsafe body($0.baseAddress!) }
  }

  /// Waits for its end.
  ///
  /// - Parameters:
  ///   - wake: Can be read when the text is no longer wanted: then the editor is ended.
  ///   - signals: Where the signals of this process are read, each of which ends the editor too; `nil` where others read them.
  /// - Returns: The signal that ended it.
  /// - Throws: Exit 5 if it ended with an error, 13 if it was killed.
  func wait(until wake: Int32, signals: AgentSignals?) throws(CommandError) -> Int32? {
    defer { close(ended) }
    while true {
      var waits = [ended, wake, signals?.descriptor ?? -1].map {
        pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
      }
      guard unsafe poll(&waits, 3, -1) >= 0 else { continue }
      let signal = signals?.next()
      if signal != nil || waits[1].revents != 0 {
        end()
        return signal ?? SIGHUP
      }
      guard waits[0].revents != 0 else { continue }
      try judge(reap())
      return nil
    }
  }

  /// Ends the editor, and what it has started: a script that starts the editor does not end with it, nor does a shell.
  private func end() {
    let processes = descendants(of: process) + [process]
    let watched = processes.map { clinux_watch_process($0) }
    defer { for descriptor in watched where descriptor >= 0 { close(descriptor) } }
    for (signal, milliseconds) in [(SIGTERM, Int32(2000)), (SIGKILL, -1)] {
      for process in processes { kill(process, signal) }
      if haveEnded(watched, within: milliseconds) { break }
    }
    _ = reap()
    wasKilled = true
  }

  /// - Parameter milliseconds: For each of them; -1 for as long as it takes.
  private func haveEnded(_ watched: [Int32], within milliseconds: Int32) -> Bool {
    for descriptor in watched where descriptor >= 0 {
      var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      var result: Int32
      repeat { result = unsafe poll(&wait, 1, milliseconds) } while result < 0 && errno == EINTR
      if result == 0 { return false }
    }
    return true
  }

  private func descendants(of process: pid_t) -> [pid_t] {
    let text = ProcessFile.text("task/\(process)/children", of: process) ?? ""
    let children = text.split(separator: " " as Character).compactMap { pid_t($0) }
    return children.flatMap { descendants(of: $0) + [$0] }
  }

  private func reap() -> Int32 {
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
    return status
  }

  private func judge(_ status: Int32) throws(CommandError) {
    // A shell says by the code that a signal has ended its program.
    let code = status >> 8 & 0xFF
    let signal = status & 0x7F != 0 ? status & 0x7F : code > 128 ? code - 128 : 0
    guard signal == 0 else {
      wasKilled = true
      throw CommandError(
        .io, "the editor was ended by signal \(signal)", hint: Self.nothingChanged, code: "editorFailed")
    }
    switch code {
    case 0: return
    case 126, 127:
      throw CommandError(
        .io, "the editor was not started", hint: "look at VISUAL and EDITOR; \(Self.nothingChanged)",
        code: "editorFailed")
    default:
      throw CommandError(
        .cancelled, "the editor ended with \(code)", hint: Self.nothingChanged, code: "editorFailed")
    }
  }

  /// Sets the terminal back after an editor that was killed, and could not do that. Can wait for the terminal.
  ///
  /// An editor such as emacs makes its own process group the foreground one. While a killed editor has it, a change of the terminal would
  /// stop this process by SIGTTOU.
  func restoreTerminal() {
    guard wasKilled, var terminal else { return }
    var (stop, before) = (sigset_t(), sigset_t())
    unsafe sigemptyset(&stop)
    unsafe sigaddset(&stop, SIGTTOU)
    guard unsafe pthread_sigmask(SIG_BLOCK, &stop, &before) == 0 else { return }
    defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
    let foreground = tcgetpgrp(0)
    // A shell that has the foreground, because this process went into its background, keeps it.
    let isLeft = foreground == process || foreground > 0 && kill(-foreground, 0) != 0 && errno == ESRCH
    if isLeft { tcsetpgrp(0, getpgrp()) }
    guard tcgetpgrp(0) == getpgrp() else { return }
    _ = unsafe tcsetattr(0, TCSADRAIN, &terminal)
  }
}
