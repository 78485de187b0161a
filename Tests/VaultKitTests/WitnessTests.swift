import Foundation
import SecretMemory
import Testing
import VaultKit
import VaultTestKit

@Suite("How many commits a key has seen")
struct WitnessTests {
  private let vault = TemporaryVault()

  private var file: String {
    get throws {
      let keys = vault.folder + "/state"
      let names = try FileManager.default.subpathsOfDirectory(atPath: keys)
      return keys + "/" + (try #require(names.first { $0.hasSuffix(".seen") }))
    }
  }

  /// Planted, and found: a file kept open that has lost its name.
  @Test("each commit is written to the file of that name, also where another process removes or replaces it")
  func replaced() throws {
    let core = try vault.makeCore()
    func commit(_ name: String) throws { _ = try core.add(NewItem(.genericPassword, name: name)) }
    func seen() throws -> UInt64? {
      let status = try core.status()
      let seen = vault.protector.seenSequence(under: status.deviceKey, of: status.vault)
      #expect(seen == status.sequence)
      return seen
    }
    try commit("a")
    try commit("b")
    let before = try #require(try seen())
    let file = try file
    try FileManager.default.removeItem(atPath: file)
    try commit("c")
    #expect(try seen() == before + 1)
    try Data("another's".utf8).write(to: URL(fileURLWithPath: file + ".new"))
    #expect(unsafe rename(file + ".new", file) == 0)
    try commit("d")
    #expect(try seen() == before + 2)
    #expect(unsafe unlink(file) == 0 && symlink("/dev/null", file) == 0)
    try commit("e")
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: file) == "/dev/null")
  }
}
