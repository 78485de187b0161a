import CLinux
import CommandLineKit
import Glibc
import TransportPrograms
import VaultWords

/// The option of verbs that ask a server.
enum TransportOptions {
  static let program = Setting(
    "transport", .path, "PROGRAM",
    "The program that takes requests to the server: an absolute path. 'docs/guides/transport.md' says how it talks."
  )

  /// How a command with this option can end because of what the server answers.
  static let exits: [ExitCode] = [
    .notFound, .authenticationFailed, .blocked, .expired, .refused, .malformed, .unsupported, .network,
    .outOfStep,
  ]
}

extension Command {
  /// The transport that `--transport` names; `nil` if it is not given.
  ///
  /// - Throws: exit 2 for a relative path, exit 16 for a file that is absent or cannot be a transport.
  func transport() throws -> WaitedTransport? {
    guard let path = self[TransportOptions.program] else { return nil }
    guard path.hasPrefix("/") else {
      throw CommandError.usage(
        "--transport takes an absolute path", hint: "give the whole path of the program, from / on")
    }
    let transport = try TransportProgram(path, limits: .init(time: world.patience.transport))
    EndingSignals.yield()
    Self.endTransportsOnSignals()
    return WaitedTransport(program: transport)
  }

  /// Has a signal that ends this process also end what a transport has started: the kernel ends the transport alone.
  private static func endTransportsOnSignals() {
    ThisProcess.handle([SIGINT, SIGTERM, SIGHUP, SIGQUIT]) { number in
      clinux_kill_bound_group()
      if number == SIGINT { _exit(130) }
      // It comes when the handler returns.
      signal(number, SIG_DFL)
      raise(number)
    }
  }

  /// The same for a verb that cannot do without a server.
  ///
  /// - Throws: exit 2 without `--transport`.
  func neededTransport() throws -> WaitedTransport {
    guard let transport = try transport() else {
      throw CommandError.usage(
        "a server is needed, and --transport is missing",
        hint: "name the program that takes requests to it: --transport PROGRAM")
    }
    return transport
  }
}
