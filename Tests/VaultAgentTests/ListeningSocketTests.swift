import AgentMessages
import CLinux
import CommandLineKit
import Foundation
import TestSupport
import Testing
import VaultAgent

/// The socket on which the agent listens, made by itself or by the service manager.
@Suite("The agent's socket", .bounded, .requirement("G7"))
struct ListeningSocketTests {
  @Test("it is ours alone, and its name ends with it")
  func made() throws {
    let runtime = try ShortFolder()
    let path = try runtime.place().socket
    do {
      let socket = try ListeningSocket(making: path)
      let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
      expect(mode, equals: 0o600)
      #expect(try runtime.place().connect() != nil)
      #expect(socket.descriptor >= 0)
    }
    #expect(try !FileManager.default.fileExists(atPath: path) && runtime.place().connect() == nil)
  }

  @Test("of two agents one finds out that the other runs")
  func second() throws {
    let runtime = try ShortFolder()
    let path = try runtime.place().socket
    let first = try ListeningSocket(making: path)
    #expect(throws: AgentStartError.isRunning) { _ = try ListeningSocket(making: path) }
    #expect(first.descriptor >= 0 && FileManager.default.fileExists(atPath: path))
  }

  /// Would fail at b471ba6f: the end of the first removed the socket of the second.
  @Test(
    "an agent that ends leaves the socket of another one, which began after the directory was renamed",
    arguments: [false, true])
  func othersSocket(isHidden: Bool) throws {
    let runtime = try ShortFolder()
    let place = try runtime.place()
    var sockets = [try ListeningSocket(making: place.socket)]
    #expect(sockets[0].isFound)
    _ = unsafe rename(place.directory, place.directory + "-before")
    #expect(!sockets[0].isFound)
    sockets.append(try ListeningSocket(making: try runtime.place().socket))
    #expect(!sockets[0].isFound && sockets[1].isFound)
    if isHidden { sockets[0].hide() }
    sockets.removeFirst()
    #expect(try sockets[0].isFound && runtime.place().connect() != nil)
  }

  /// Would fail at b471ba6f, which said that the agent is running.
  @Test("of an agent whose socket was removed, the next one says so")
  func lost() throws {
    let runtime = try ShortFolder()
    let path = try runtime.place().socket
    let first = try ListeningSocket(making: path)
    _ = unsafe unlink(path)
    #expect(!first.isFound)
    #expect(throws: AgentStartError.isLost(path)) { _ = try ListeningSocket(making: path, patience: 0) }
  }

  /// Would fail where the lock alone decided.
  @Test("where the lock file was removed too, the agent that listens is still found to run")
  func lockRemoved() throws {
    let runtime = try ShortFolder()
    let path = try runtime.place().socket
    let first = try ListeningSocket(making: path)
    _ = unsafe unlink(path + ".lock")
    #expect(throws: AgentStartError.isRunning) { _ = try ListeningSocket(making: path) }
    #expect(first.isFound)
  }

  @Test("a socket that an agent left which was killed is replaced")
  func leftOver() throws {
    let runtime = try ShortFolder()
    let path = try runtime.place().socket
    let old = unsafe clinux_listen_packets(path)
    try #require(old >= 0)
    close(old)
    #expect(FileManager.default.fileExists(atPath: path))
    #expect(try ListeningSocket(making: path).descriptor >= 0)
  }

  @Test("a socket that another program serves, and what is no socket, stay", arguments: [true, false])
  func occupied(isServed: Bool) throws {
    let runtime = try ShortFolder()
    let path = try runtime.place().socket
    var other: Int32 = -1
    if isServed {
      other = unsafe clinux_listen_packets(path)
    } else {
      try Data("x".utf8).write(to: URL(fileURLWithPath: path))
    }
    defer { if other >= 0 { close(other) } }
    #expect(throws: isServed ? AgentStartError.isRunning : .occupied(path)) {
      _ = try ListeningSocket(making: path)
    }
    #expect(FileManager.default.fileExists(atPath: path))
  }

  @Test("the socket of the service manager is taken, and stays when the agent ends")
  func inherited() throws {
    let runtime = try ShortFolder()
    let path = try runtime.place().socket
    let given = unsafe clinux_listen_packets(path)
    try #require(given >= 0)
    let environment = Environment(["LISTEN_PID": "7", "LISTEN_FDS": "1"])
    #expect(try ListeningSocket(inherited: environment, by: 8, first: given) == nil)
    #expect(try ListeningSocket(inherited: Environment([:]), by: 7, first: given) == nil)
    #expect(try ListeningSocket(inherited: environment, by: 7, first: given)?.descriptor == given)
    #expect(FileManager.default.fileExists(atPath: path))
  }

  @Test("another descriptor than one listening socket of packets is refused", arguments: ["1", "2", "x"])
  func wrong(count: String) throws {
    let scratch = try Scratch()
    #expect(throws: AgentStartError.wrongSocket) {
      _ = try ListeningSocket(
        inherited: Environment(["LISTEN_PID": "7", "LISTEN_FDS": count]), by: 7, first: scratch.descriptor)
    }
  }
}

/// A directory with a path that is short enough for a socket, in place of `$XDG_RUNTIME_DIR`.
final class ShortFolder: Sendable {
  let path: String

  init() throws {
    path = "/tmp/vaultd-" + UUID().uuidString.prefix(13)
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The place of the socket in it, with its directory.
  func place() throws -> AgentPlace {
    let place = try #require(AgentPlace(runtime: path, standard: nil))
    try place.makeDirectory()
    return place
  }
}
