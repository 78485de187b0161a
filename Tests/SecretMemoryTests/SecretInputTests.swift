import Foundation
import SecretMemory
import TestSupport
import Testing

@Suite("Files with secrets", .bounded)
struct SecretInputTests {
  /// The moment between the opening and the checks: who owns the link takes it away there, and no flaw is left on the path.
  ///
  /// Verified to fail when the file at the end of the path is not compared with the open one.
  @Test("a path that does not lead to the open file any more is not believed")
  func replaced() throws {
    let folder = FileManager.default.temporaryDirectory.path + "/input-" + UUID().uuidString
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let link = folder + "/link"
    for name in ["one", "two"] {
      #expect(
        FileManager.default.createFile(
          atPath: "\(folder)/\(name)", contents: Data(name.utf8), attributes: [.posixPermissions: 0o600]))
    }
    func point(to name: String) throws {
      try FileManager.default.createSymbolicLink(atPath: link + ".new", withDestinationPath: name)
      try #require(unsafe rename(link + ".new", link) == 0)
    }
    try point(to: "one")
    let file = try SecretInput.open(link)
    defer { close(file) }
    try expect(SecretInput.isBelieved(file, at: link), equals: true)
    // As Kubernetes does.
    try point(to: "two")
    try expect(SecretInput.isBelieved(file, at: link), equals: false)
    // A link that leads nowhere, and a file that is none.
    try point(to: "three")
    try expect(SecretInput.isBelieved(file, at: link), equals: false)
    unsafe expect(rename(folder + "/two", link), equals: 0)
    try expect(SecretInput.isBelieved(file, at: link), equals: false)
    unsafe expect(rename(folder + "/one", link), equals: 0)
    try expect(SecretInput.isBelieved(file, at: link), equals: true)
    // A rotation gives the file its other name.
    unsafe expect(rename(link, folder + "/one"), equals: 0)
    try expect(SecretInput.isBelieved(file, at: link), equals: false)
  }
}
