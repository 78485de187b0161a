import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// Verified to fail when a file needs only the mode of a credential, when the owner of a file or of a credential is not
/// compared, and when links are followed.
@Suite("Secrets from outside the program", .bounded, .requirement("L16"))
struct SecretSourceTests {
  private let place = TemporaryVault()

  private func file(_ text: String, mode: mode_t = 0o600) throws -> String {
    let path = place.folder + "/secret-\(UUID().uuidString)"
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    unsafe expect(chmod(path, mode), equals: 0)
    return path
  }

  @Test(
    "a private file gives its bytes, without one newline at the end", arguments: [0o600, 0o400] as [mode_t])
  func privateFile(mode: mode_t) throws {
    let path = try file("secret\n\n", mode: mode)
    try expect(SecretBytes.contents(ofFile: path).bytesForTesting, equals: Array("secret\n".utf8))
    try expect(
      SecretBytes.contents(ofFile: path, keepingNewline: true).bytesForTesting,
      equals: Array("secret\n\n".utf8))
    try expect(SecretBytes.contents(ofFile: file("")).byteCount, equals: 0)
  }

  @Test("a file that others can read, a directory and no file are refused, and named")
  func refused() throws {
    let paths = [
      try file("secret", mode: 0o644), try file("secret", mode: 0o620), try file("secret", mode: 0o700),
      place.folder, place.folder + "/missing",
    ]
    for path in paths {
      let error = thrown { () throws(VaultError) in _ = try SecretBytes.contents(ofFile: path) }
      #expect(error?.code == .io && error?.message.contains(path) == true)
    }
  }

  @Test("a descriptor gets all bytes, also through a pipe with less room; one that is not open is refused")
  func written() async throws {
    let pipe = Pipe()
    expect(fcntl(pipe.fileHandleForWriting.fileDescriptor, F_SETFL, O_NONBLOCK), equals: 0)
    let reading = onThread { pipe.fileHandleForReading.readDataToEndOfFile() }
    let secret = try SecretBytes.random(byteCount: 300_000)
    try secret.write(toDescriptor: pipe.fileHandleForWriting.fileDescriptor)
    try pipe.fileHandleForWriting.close()
    try await expect(Array(reading.value), equals: secret.bytesForTesting)
    let error = thrown { () throws(VaultError) in try secret.write(toDescriptor: -1) }
    expect(error?.code, equals: .io)
  }

  @Test("a file and a credential of another user are refused")
  func owner() throws {
    try needRoot("a file of another user")
    let path = try file("secret", mode: 0o400)
    unsafe expect(chown(path, 65_534, 65_534), equals: 0)
    let name = String(path.split(separator: "/").last!)
    let errors = [
      thrown { () throws(VaultError) in _ = try SecretBytes.contents(ofFile: path) },
      thrown { () throws(VaultError) in _ = try SecretBytes.credential(name, in: place.folder) },
    ]
    for error in errors {
      #expect(error?.code == .io && error?.message.contains("another user") == true)
    }
  }

  @Test("a pipe is refused without waiting for its writer", arguments: [false, true])
  func pipe(isCredential: Bool) throws {
    let path = place.folder + "/pipe"
    unsafe expect(mkfifo(path, 0o600), equals: 0)
    // With an open end no opening waits; the flag of the descriptor below shows that none would.
    let end = unsafe open(path, O_RDWR | O_CLOEXEC)
    defer { close(end) }
    let error = thrown { () throws(VaultError) in
      if isCredential {
        _ = try SecretBytes.credential("pipe", in: place.folder)
      } else {
        _ = try SecretBytes.contents(ofFile: path)
      }
    }
    #expect(error?.code == .io && error?.message.contains("not a regular file") == true)
    let file = try SecretInput.open(file("secret"))
    defer { close(file) }
    #expect(fcntl(file, F_GETFL) & O_NONBLOCK != 0 && fcntl(file, F_GETFD) & FD_CLOEXEC != 0)
  }

  /// As Kubernetes makes them: the name is a link into `..data`, which is a link to a directory with the time in its name.
  private func platformLinks() throws -> String {
    let mount = place.folder + "/mount-\(UUID().uuidString)"
    for folder in [mount, mount + "/..2026_01_01"] { unsafe expect(mkdir(folder, 0o755), equals: 0) }
    try FileManager.default.copyItem(
      atPath: file("secret", mode: 0o400), toPath: mount + "/..2026_01_01/passcode")
    try FileManager.default.createSymbolicLink(
      atPath: mount + "/..data", withDestinationPath: "..2026_01_01")
    try FileManager.default.createSymbolicLink(
      atPath: mount + "/passcode", withDestinationPath: "..data/passcode")
    return mount
  }

  @Test("links are followed where only root and this user decide what they lead to")
  func links() throws {
    let mount = try platformLinks()
    try expect(
      SecretBytes.contents(ofFile: mount + "/passcode").bytesForTesting, equals: Array("secret".utf8))
    let credential = try SecretBytes.credential("passcode", in: mount)
    expect(credential?.bytesForTesting, equals: Array("secret".utf8))
    unsafe expect(chmod(mount + "/..2026_01_01", 0o777), equals: 0)
    let error = thrown { () throws(VaultError) in _ = try SecretBytes.contents(ofFile: mount + "/passcode") }
    #expect(error?.code == .io && error?.message.contains("..2026_01_01") == true, "\(error?.message ?? "")")
    try needRoot("a link of another user")
    unsafe expect(chmod(mount + "/..2026_01_01", 0o755), equals: 0)
    unsafe expect(lchown(mount + "/..data", 65_534, 65_534), equals: 0)
    expect(.io) { () throws(VaultError) in _ = try SecretBytes.credential("passcode", in: mount) }
  }

  @Test("a path with a NUL does not lead to the file before it")
  func pathWithNUL() throws {
    let path = try file("secret")
    expect(.malformed) { () throws(VaultError) in _ = try SecretBytes.contents(ofFile: path + "\0.txt") }
  }

  @Test("a descriptor that gives its bytes in pieces, and does not block, is read to its end")
  func pieces() async throws {
    let pipe = Pipe()
    let (from, to) = (pipe.fileHandleForReading.fileDescriptor, pipe.fileHandleForWriting)
    expect(fcntl(from, F_SETFL, O_NONBLOCK), equals: 0)
    let piece = Data(repeating: UInt8(ascii: "x"), count: 1000)
    let writer = Thread {
      for _ in 0..<100 { to.write(piece) }
      try? to.close()
    }
    writer.start()
    try expect(SecretBytes.contents(ofDescriptor: from).byteCount, equals: 100_000)
  }

  @Test("a descriptor is read to its end, up to 1 MiB")
  func descriptor() throws {
    let long = try file(String(repeating: "x", count: 1 << 20))
    let pipe = Pipe()
    pipe.fileHandleForWriting.write(Data("from a pipe\n".utf8))
    try pipe.fileHandleForWriting.close()
    let descriptor = pipe.fileHandleForReading.fileDescriptor
    try expect(
      SecretBytes.contents(ofDescriptor: descriptor).bytesForTesting, equals: Array("from a pipe".utf8))
    try expect(SecretBytes.contents(ofFile: long).byteCount, equals: 1 << 20)
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
      unsafe expect(chmod(folder + "/" + name, mode), equals: 0)
    }
    for name in ["key", "own"] {
      let secret = try SecretBytes.credential(name, in: folder)
      expect(secret?.bytesForTesting, equals: Array("secret".utf8))
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
    expect(Set(text).count, equals: 62)
    try expect(SecretBytes.random(characterCount: 0).byteCount, equals: 0)
  }
}
