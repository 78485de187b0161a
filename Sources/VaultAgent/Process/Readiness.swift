import CLinux
import CommandLineKit
import Glibc
import VaultCommands

/// Tells who started the agent that it listens, or why not: the service manager, by the socket that it names, and
/// `vaultctl agent start`, by a pipe.
struct Readiness {
  private let manager: String?
  /// The writing end of a pipe; -1 for none.
  private let pipe: Int32

  /// - Parameter pipe: The number of the pipe; -1 for none.
  init(environment: Environment, pipe: Int32) {
    manager = environment["NOTIFY_SOCKET"].flatMap { $0.isEmpty ? nil : $0 }
    // A number that is not open could become that of another file.
    self.pipe = fcntl(pipe, F_SETFD, FD_CLOEXEC) == 0 ? pipe : -1
  }

  /// The agent listens.
  func ready() {
    notify("READY=1\nSTATUS=listening\n")
    answer(AgentStart.ready)
  }

  /// The agent is about to end.
  func stopping() { notify("STOPPING=1\n") }

  /// It does not begin.
  func failed(_ error: AgentStartError) {
    notify("STATUS=\(error.text)\nERRNO=1\n")
    answer(error == .isRunning ? AgentStart.isRunning : AgentStart.failed + error.text)
  }

  private func notify(_ text: String) {
    if let manager { _ = unsafe clinux_notify(manager, text) }
  }

  private func answer(_ text: String) {
    guard pipe >= 0 else { return }
    _ = unsafe write(pipe, text, text.utf8.count)
    close(pipe)
  }
}
