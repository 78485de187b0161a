import AgentMessages
import CLinux
import Foundation
import TestSupport
import Testing

@Suite("The place of the agent's socket", .bounded, .requirement("G7"))
struct AgentPlaceTests {
  @Test("without a directory or a socket there is no agent")
  func absent() throws {
    let folder = try Folder()
    let place = try #require(AgentPlace(runtime: folder.path, standard: nil))
    #expect(try place.connect() == nil)
    try place.makeDirectory()
    #expect(try place.connect() == nil)
    #expect(AgentPlace(runtime: nil, standard: nil) == nil)
    #expect(AgentPlace(runtime: "relative", standard: folder.path + "/none") == nil)
  }

  @Test("the standard directory is used if it is ours alone", arguments: [0o700, 0o755])
  func standard(mode: Int) throws {
    let folder = try Folder()
    _ = unsafe chmod(folder.path, mode_t(mode))
    let place = AgentPlace(runtime: nil, standard: folder.path)
    expect(place?.directory, equals: mode == 0o700 ? folder.path + "/vaultctl" : nil)
  }

  @Test("a socket of ours is connected to, and what is sent arrives")
  func connected() throws {
    let folder = try Folder()
    let listener = try folder.listen()
    let command = try #require(try folder.place.connect())
    let agent = AgentSocket(owning: accept(listener, nil, nil))
    try command.send(AgentSignal(15).packet)
    try expect(AgentSignal(#require(try agent.receive())), equals: AgentSignal(15))
  }

  @Test("a socket at which nothing listens is dead")
  func dead() throws {
    let folder = try Folder()
    close(try folder.listen())
    let path = folder.place.socket
    #expect(throws: AgentPlace.Flaw.isDead(path)) { try folder.place.connect() }
  }

  @Test("a directory that others can reach, a link and a file in its place are refused")
  func planted() throws {
    let folder = try Folder()
    let place = folder.place
    try place.makeDirectory()
    _ = unsafe chmod(place.directory, 0o755)
    #expect(throws: AgentPlace.Flaw.isExposed(place.directory)) { try place.connect() }
    #expect(throws: AgentPlace.Flaw.isExposed(place.directory)) { try place.makeDirectory() }
    _ = unsafe rmdir(place.directory)
    _ = unsafe symlink(folder.path, place.directory)
    #expect(throws: AgentPlace.Flaw.isLink(place.directory)) { try place.connect() }
    _ = unsafe unlink(place.directory)
    try Data().write(to: URL(fileURLWithPath: place.directory))
    #expect(throws: AgentPlace.Flaw.isOther(place.directory)) { try place.connect() }
  }

  @Test("a link and a file in the place of the socket are refused")
  func plantedSocket() throws {
    let folder = try Folder()
    let place = folder.place
    try place.makeDirectory()
    _ = unsafe symlink("/run/elsewhere", place.socket)
    #expect(throws: AgentPlace.Flaw.isLink(place.socket)) { try place.connect() }
    _ = unsafe unlink(place.socket)
    try Data().write(to: URL(fileURLWithPath: place.socket))
    #expect(throws: AgentPlace.Flaw.isOther(place.socket)) { try place.connect() }
  }

  @Test("a directory and a socket of another user are refused")
  func foreign() throws {
    try needRoot("the socket of another user")
    let folder = try Folder()
    let place = folder.place
    let listener = try folder.listen()
    defer { close(listener) }
    _ = unsafe chown(place.socket, 65_534, 65_534)
    #expect(throws: AgentPlace.Flaw.isForeign(place.socket)) { try place.connect() }
    _ = unsafe chown(place.directory, 65_534, 65_534)
    #expect(throws: AgentPlace.Flaw.isForeign(place.directory)) { try place.connect() }
  }

  @Test("a socket whose path is too long is an error, not another socket")
  func longPath() throws {
    let folder = try Folder()
    let long = folder.path + "/" + String(repeating: "d", count: 100)
    try FileManager.default.createDirectory(atPath: long, withIntermediateDirectories: false)
    let place = try #require(AgentPlace(runtime: long, standard: nil))
    try place.makeDirectory()
    let near = folder.path + "/s"
    let listener = unsafe clinux_listen_packets(near)
    defer { close(listener) }
    _ = unsafe rename(near, place.socket)
    #expect(throws: AgentPlace.Flaw.failed(place.socket, ENAMETOOLONG)) { try place.connect() }
  }
}

/// A directory of mode 0700 for what ends with a session. Its path is short, because that of a socket is.
private struct Folder: ~Copyable {
  let path: String

  init() throws {
    path = "/tmp/agent-" + UUID().uuidString.prefix(13)
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  var place: AgentPlace { AgentPlace(directory: path + "/vaultctl") }

  /// A socket that listens there.
  func listen() throws -> Int32 {
    try place.makeDirectory()
    let listener = unsafe clinux_listen_packets(place.socket)
    try #require(listener >= 0)
    return listener
  }
}
