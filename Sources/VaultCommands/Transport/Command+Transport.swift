import CommandLineKit
import TransportPrograms
import VaultWords

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
    world.interruption.yield()
    let programs = world.host.programs(within: world.patience.transport)
    return WaitedTransport(
      program: try TransportProgram(path, by: programs), interruption: world.interruption)
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
