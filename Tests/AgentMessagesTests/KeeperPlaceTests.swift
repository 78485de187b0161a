import AgentMessages
import CLinux
import Foundation
import TestSupport
import Testing

/// Directories that root alone can make are root's here too. `Tests/Hostile` has the real ones.
@Suite("The place of the keeper's socket", .bounded, .requirement("G7"))
struct KeeperPlaceTests {
  @Test("where there is no directory or no socket, there is no keeper")
  func absent() throws {
    try needRoot("directories of root")
    let folder = try Folder()
    #expect(throws: KeeperPlace.Flaw.isAbsent) { _ = try folder.place.connect() }
    try folder.makeDirectories()
    #expect(throws: KeeperPlace.Flaw.isAbsent) { _ = try folder.place.connect() }
  }

  @Test("a socket of the person in directories of root is connected to; one at which nothing listens is dead")
  func connected() throws {
    try needRoot("directories of root")
    let folder = try Folder()
    let listener = try folder.listen()
    _ = try folder.place.connect()
    close(listener)
    #expect(throws: KeeperPlace.Flaw.isDead) { _ = try folder.place.connect() }
  }

  /// Verified to fail without the check of the directories.
  @Test("a directory that others own or can write to, a link and the socket of another user are refused")
  func foreign() throws {
    try needRoot("directories of root")
    let folder = try Folder()
    close(try folder.listen())
    let place = folder.place
    for directory in place.open.dropLast() {
      _ = unsafe chmod(directory, 0o775)
      #expect(throws: KeeperPlace.Flaw.isForeign(directory)) { _ = try place.connect() }
      _ = unsafe chmod(directory, 0o755)
      _ = unsafe chown(directory, Folder.person, 0)
      #expect(throws: KeeperPlace.Flaw.isForeign(directory)) { _ = try place.connect() }
      _ = unsafe chown(directory, 0, 0)
    }
    _ = unsafe chown(place.socket, 65_533, 0)
    #expect(throws: KeeperPlace.Flaw.isForeign(place.socket)) { _ = try place.connect() }
    _ = unsafe unlink(place.socket)
    _ = unsafe symlink("/run/elsewhere", place.socket)
    #expect(throws: KeeperPlace.Flaw.isForeign(place.socket)) { _ = try place.connect() }
  }
}

/// In place of `/run/vaultd`.
private struct Folder: ~Copyable {
  static let person: UInt32 = 65_534
  private let path: String

  init() throws {
    path = "/tmp/keeper-" + UUID().uuidString.prefix(13)
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  var place: KeeperPlace { KeeperPlace(of: Self.person, sockets: path + "/s", states: path + "/v") }

  func makeDirectories() throws {
    for directory in place.open where unsafe mkdir(directory, 0o755) == 0 {
      _ = unsafe chmod(directory, 0o755)
    }
  }

  func listen() throws -> Int32 {
    try makeDirectories()
    let listener = unsafe clinux_listen_packets(place.socket)
    try #require(listener >= 0)
    _ = unsafe chown(place.socket, Self.person, 0)
    return listener
  }
}
