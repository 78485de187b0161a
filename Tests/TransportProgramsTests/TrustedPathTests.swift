import AuthenticatorKit
import Foundation
import Glibc
import TestSupport
import Testing
import TransportPrograms
import TrustedPaths
import VaultKit

@Suite("Paths that others decide about", .bounded)
struct TrustedPathTests {
  private let folder = Folder()

  /// Verified to fail when `/dev` is not looked for, and when links are not followed.
  @Test(
    "what differs from process to process is no transport",
    arguments: [
      "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "/proc/self/exe", "//dev/./stdin", "/usr/../dev/stdin",
      "/dev/shm/../stdin", "FOLDER/link", "FOLDER/link to a link", "FOLDER/dev/stdin",
    ])
  func kernel(path: String) throws {
    try folder.link("link", to: "/dev/stdin")
    try folder.link("link to a link", to: folder.path + "/link")
    try folder.link("dev", to: "../../../../../../../../../../../../dev")
    let path = path.replacingOccurrences(of: "FOLDER", with: folder.path)
    let error = #expect(throws: VaultError.self) { try TransportProgram(path) }
    #expect(error?.code == .network && error?.message.contains("another file in each process") == true)
  }

  /// Verified to fail when names are not counted in a directory where all may make them.
  @Test("a second name of a file is another's choice where all may make names, and nowhere else")
  func secondName() throws {
    try folder.make(folder.path + "/shared", mode: 0o1777)
    try folder.make(folder.path + "/own", mode: 0o755)
    for place in ["shared", "own"] {
      let (first, second) = ("\(folder.path)/\(place)/a", "\(folder.path)/\(place)/b")
      #expect(FileManager.default.createFile(atPath: first, contents: Data()))
      expect(TrustedPath.flaw(of: first), equals: nil)
      unsafe expect(link(first, second), equals: 0)
      expect(TrustedPath.flaw(of: second)?.part, equals: place == "shared" ? second : nil)
    }
  }

  /// Verified to fail when links are not followed.
  @Test("the first directory that others can write to is named, wherever it is on the path")
  func model() throws {
    var random = SeededGenerator()
    for round in 0..<200 {
      var path = "\(folder.path)/\(round)"
      // Without links.
      var here = path
      var expected: String?
      try folder.make(here, mode: 0o700)
      for level in 0..<Int.random(in: 1...4, using: &random) {
        let mode = [0o700, 0o755, 0o711, 0o1777, 0o1733, 0o777, 0o757, 0o733].randomElement(using: &random)!
        var real = "\(here)/\(level)"
        if Bool.random(using: &random) {
          let link = real
          real = "\(folder.path)/elsewhere \(round) \(level)"
          try folder.link(at: link, to: Bool.random(using: &random) ? real : "\(real)/.")
        }
        try folder.make(real, mode: mode)
        if mode & 0o1002 == 0o002 { expected = expected ?? real }
        (here, path) = (real, "\(path)/\(level)")
      }
      let flaw = TrustedPath.flaw(of: path + "/file")
      expect(flaw?.part, equals: expected, "\(path)")
      expect(flaw?.reason, equals: expected == nil ? nil : .changeableByOthers)
    }
  }

  /// Verified to fail when every group may write.
  @Test("a group may write that is the user's own, and an owner is root or this user")
  func owners() throws {
    try needRoot("directories of other groups and users")
    let inner = folder.path + "/a"
    let file = inner + "/file"
    for (owner, group, mode, reason) in [
      (0, 0, 0o775, nil), (0, 100, 0o775, .changeableByOthers), (0, 100, 0o755, nil),
      (0, 100, 0o1775, nil), (65534, 0, 0o755, .foreignOwner), (65534, 0, 0o1777, .foreignOwner),
    ] as [(uid_t, gid_t, Int, TrustedPath.Reason?)] {
      try folder.make(inner, mode: mode)
      unsafe expect(chown(inner, owner, group), equals: 0)
      unsafe expect(chmod(inner, mode_t(mode)), equals: 0)
      expect(
        TrustedPath.flaw(of: file)?.reason, equals: reason, "\(owner):\(group) \(String(mode, radix: 8))")
    }
    unsafe chown(inner, 0, 0)
    unsafe chmod(inner, 0o755)
    try folder.link("link", to: "a")
    unsafe expect(lchown(folder.path + "/link", 65534, 65534), equals: 0)
    let flaw = TrustedPath.flaw(of: folder.path + "/link/file")
    #expect(flaw?.part == folder.path + "/link" && flaw?.reason == .foreignOwner)
  }

  @Test("a path that ends early, and links that go round, have no flaw of their own")
  func ends() throws {
    try folder.link("round", to: "round")
    for path in ["/", "", "/nowhere/at/all", folder.path + "/round/file", folder.path + "/absent"] {
      expect(TrustedPath.flaw(of: path), equals: nil)
    }
  }

  /// Verified to fail when the transport looks at its file alone.
  @Test("a transport that others could replace is refused, also later")
  func transport() throws {
    let peer = try PeerProgram("answer()")
    let transport = try TransportProgram(peer.path)
    unsafe chmod(peer.folder.path, 0o777)
    defer { unsafe chmod(peer.folder.path, 0o700) }
    let flaw =
      "the transport \(peer.path) can be replaced: others can write to the directory \(peer.folder.path)"
    let early = #expect(throws: VaultError.self) { try TransportProgram(peer.path) }
    #expect(early?.code == .network && early?.message == flaw && early?.hint != nil)
    let later = #expect(throws: VaultError.self) {
      try transport.send(TransportRequest(.login, id: PeerProgram.id, fields: .init()))
    }
    expect(later?.message, equals: flaw)
  }
}

/// A temporary directory.
private final class Folder {
  let path = FileManager.default.temporaryDirectory.path + "/trusted-paths-" + UUID().uuidString

  init() { unsafe mkdir(path, 0o700) }
  deinit { try? FileManager.default.removeItem(atPath: path) }

  func make(_ path: String, mode: Int) throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    unsafe expect(chmod(path, mode_t(mode)), equals: 0)
  }

  func link(_ name: String, to target: String) throws { try link(at: path + "/" + name, to: target) }

  func link(at path: String, to target: String) throws { unsafe expect(symlink(target, path), equals: 0) }
}
