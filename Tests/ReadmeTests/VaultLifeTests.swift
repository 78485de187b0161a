import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultKit

/// Verified to fail when a line is changed in the guide, and when `keep` does not log readings.
@Suite("The calls in the guide for users of the library", .bounded, .requirement("L13"))
struct VaultLifeTests {
  private let folder = FileManager.default.temporaryDirectory.path + "/life-\(UUID().uuidString)"

  @Test("are the file that is compiled here, with what is public alone")
  func text() throws {
    let file = try Readme.text(of: "Tests/ReadmeTests/VaultLife.swift")
    #expect(try Readme.blocks("swift", of: "docs/guides/using-the-library.md").contains(file))
    try expect(Stranger.complaints(about: file), equals: "")
  }

  @Test("do what the guide says")
  func used() async throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let keys = FileProtector(folder: folder + "/keys")
    let vault = try await create(
      at: VaultPath(folder + "/app.vault"), keys: keys, passcodeFile: file("passcode", "six random words\n"))
    let inAnHour = Instant(seconds: Int64(Date().timeIntervalSince1970) + 3600)
    try await keep(SecretBytes.random(characterCount: 32), for: "deploy", until: inAnHour, in: vault)
    let token = try SecretBytes.random(characterCount: 32)
    try await keep(token.expose { SecretBytes(copying: $0) }, for: "deploy", until: inAnHour, in: vault)
    vault.lock()

    let pipe = Pipe()
    let peer = Caller(user: 1000, process: 4711, executable: "/usr/bin/deploy")
    try await give("deploy", of: vault, to: peer, on: pipe.fileHandleForWriting.fileDescriptor)
    try pipe.fileHandleForWriting.close()
    expect(
      pipe.fileHandleForReading.readDataToEndOfFile(),
      equals: token.expose { unsafe $0.withUnsafeBytes { unsafe Data($0) } })
    try await expect(callers(of: "deploy", in: vault), equals: [peer])

    try await vault.unlock(with: Passcode(.contents(ofFile: folder + "/passcode")))
    let phrase = try file("phrase", "five words nobody would ever guess")
    let leftOut = try await backUp(
      vault, to: VaultPath(folder + "/backup.vault"), trial: VaultPath(folder + "/trial/app.vault"),
      keys: keys,
      phraseFile: phrase)
    expect(leftOut, equals: [])
  }

  private func file(_ name: String, _ text: String) throws -> String {
    let path = folder + "/" + name
    #expect(
      FileManager.default.createFile(
        atPath: path, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600]))
    return path
  }
}
