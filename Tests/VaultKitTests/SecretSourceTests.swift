import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// Verified to fail when a file needs only the mode of a credential.
@Suite("Secrets from outside the program", .requirement("L16"))
struct SecretSourceTests {
  private let place = TemporaryVault()

  private func file(_ text: String, mode: mode_t = 0o600) throws -> String {
    let path = place.folder + "/secret-\(UUID().uuidString)"
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    #expect(unsafe chmod(path, mode) == 0)
    return path
  }

  @Test(
    "a private file gives its bytes, without one newline at the end", arguments: [0o600, 0o400] as [mode_t])
  func privateFile(mode: mode_t) throws {
    let path = try file("secret\n\n", mode: mode)
    #expect(try SecretBytes.contents(ofFile: path).bytesForTesting == Array("secret\n".utf8))
    #expect(
      try SecretBytes.contents(ofFile: path, keepingNewline: true).bytesForTesting == Array("secret\n\n".utf8)
    )
    #expect(try SecretBytes.contents(ofFile: file("")).byteCount == 0)
  }

  @Test("a file that others can read, a link, a directory and no file are refused, and named")
  func refused() throws {
    let target = try file("secret")
    let link = place.folder + "/link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
    let paths = [
      try file("secret", mode: 0o644), try file("secret", mode: 0o620), try file("secret", mode: 0o700), link,
      place.folder, place.folder + "/missing",
    ]
    for path in paths {
      let error = thrown { () throws(VaultError) in _ = try SecretBytes.contents(ofFile: path) }
      #expect(error?.code == .io && error?.message.contains(path) == true)
    }
  }

  @Test("a descriptor is read to its end, up to 1 MiB")
  func descriptor() throws {
    let long = try file(String(repeating: "x", count: 1 << 20))
    let pipe = Pipe()
    pipe.fileHandleForWriting.write(Data("from a pipe\n".utf8))
    try pipe.fileHandleForWriting.close()
    let descriptor = pipe.fileHandleForReading.fileDescriptor
    #expect(
      try SecretBytes.contents(ofDescriptor: descriptor).bytesForTesting == Array("from a pipe".utf8))
    #expect(try SecretBytes.contents(ofFile: long).byteCount == 1 << 20)
    let tooLong = try file(String(repeating: "x", count: 1 << 20 | 1))
    expect(.malformed) { () throws(VaultError) in _ = try SecretBytes.contents(ofFile: tooLong) }
    expect(.io) { () throws(VaultError) in _ = try SecretBytes.contents(ofDescriptor: 9_999) }
  }

  @Test(
    "a credential of the service manager is read where there is one, and refused where others can read it")
  func credential() throws {
    let folder = place.folder
    for (name, mode) in [("key", 0o440), ("own", 0o400), ("open", 0o444), ("group", 0o460)]
      as [(String, mode_t)]
    {
      try Data("secret\n".utf8).write(to: URL(fileURLWithPath: folder + "/" + name))
      #expect(unsafe chmod(folder + "/" + name, mode) == 0)
    }
    for name in ["key", "own"] {
      let secret = try SecretBytes.credential(name, in: folder)
      #expect(secret?.bytesForTesting == Array("secret".utf8))
    }
    for name in ["open", "group"] {
      expect(.io) { () throws(VaultError) in _ = try SecretBytes.credential(name, in: folder) }
    }
    for place in [folder, folder + "/missing", "", nil] {
      let isThere = try SecretBytes.credential("other", in: place) != nil
      #expect(!isThere)
    }
  }

  @Test(
    "the name of a credential leads to no other directory",
    arguments: ["", ".", "..", "../x", "/etc/passwd", "a\0b"])
  func names(name: String) {
    expect(.malformed) { () throws(VaultError) in _ = try SecretBytes.credential(name, in: place.folder) }
  }

  @Test("random secrets differ, have their length, and the characters are letters and digits")
  func random() throws {
    let keys = try (0..<3).map { _ in try SecretBytes.random(byteCount: 32).bytesForTesting }
    #expect(Set(keys).count == 3 && keys.allSatisfy { $0.count == 32 })
    let text = String(decoding: try SecretBytes.random(characterCount: 4000).bytesForTesting, as: UTF8.self)
    #expect(text.count == 4000 && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) })
    #expect(Set(text).count == 62)
    #expect(try SecretBytes.random(characterCount: 0).byteCount == 0)
  }
}
