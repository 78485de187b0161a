import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultKit
import VaultTestKit

@Suite("How many commits a key has seen", .bounded)
struct KeyWitnessTests {
  private let vault = TemporaryVault()

  private var file: String {
    get throws {
      let keys = vault.folder + "/state"
      let names = try FileManager.default.subpathsOfDirectory(atPath: keys)
      return keys + "/" + (try #require(names.first { $0.hasSuffix(".seen") }))
    }
  }

  /// Verified to fail when a file that lost its name is kept open.
  @Test("each commit is written to the file of that name, also where another process removes or replaces it")
  func replaced() throws {
    let core = try vault.makeCore()
    func commit(_ name: String) throws { _ = try core.add(NewItem(.genericPassword, name: name)) }
    func seen() throws -> UInt64? {
      let status = try core.status()
      let seen = vault.protector.seenSequence(under: status.deviceKey, of: status.vault)
      expect(seen, equals: status.sequence)
      return seen
    }
    try commit("a")
    try commit("b")
    let before = try #require(try seen())
    let file = try file
    try FileManager.default.removeItem(atPath: file)
    try commit("c")
    try expect(seen(), equals: before + 1)
    try Data("another's".utf8).write(to: URL(fileURLWithPath: file + ".new"))
    unsafe expect(rename(file + ".new", file), equals: 0)
    try commit("d")
    try expect(seen(), equals: before + 2)
    #expect(unsafe unlink(file) == 0 && symlink("/dev/null", file) == 0)
    try commit("e")
    try expect(FileManager.default.destinationOfSymbolicLink(atPath: file), equals: "/dev/null")
  }

  /// Verified to fail when each number is written, and when one that no vault can have stays.
  @Test("a commit that is told later than the next one does not lower the number")
  func late() throws {
    let status = try vault.makeCore().status()
    let (key, id) = (status.deviceKey, status.vault)
    for (told, seen) in [(90, 90), (91, 91), (90, 91), (92, 92), (1 << 62, 1 << 62), (93, 93)]
      as [(UInt64, UInt64)]
    {
      vault.protector.noteSequence(told, under: key, of: id)
      expect(vault.protector.seenSequence(under: key, of: id), equals: seen)
    }
  }

  /// Verified to fail when a file that has another name now is kept open.
  @Test("a file that was moved away, as a hard link or by its name, is no longer written to")
  func moved() throws {
    let core = try vault.makeCore()
    _ = try core.add(NewItem(.genericPassword, name: "a"))
    let file = try file
    let aside = file + ".aside"
    unsafe expect(link(file, aside), equals: 0)
    let before = try Data(contentsOf: URL(fileURLWithPath: aside))
    unsafe expect(unlink(file), equals: 0)
    _ = try core.add(NewItem(.genericPassword, name: "b"))
    try expect(Data(contentsOf: URL(fileURLWithPath: aside)), equals: before)
    unsafe expect(rename(file, aside), equals: 0)
    let middle = try Data(contentsOf: URL(fileURLWithPath: aside))
    _ = try core.add(NewItem(.genericPassword, name: "c"))
    try expect(Data(contentsOf: URL(fileURLWithPath: aside)), equals: middle)
    let status = try core.status()
    expect(vault.protector.seenSequence(under: status.deviceKey, of: status.vault), equals: status.sequence)
  }

  /// Verified to fail when the witness is opened under the lowest number that is free.
  @Test("what a process prints to an output that it has closed is not written into the witness")
  func printed() async {
    await #expect(processExitsWith: .success) {
      let tests = KeyWitnessTests()
      let vault = tests.vault
      let core = try vault.makeCore()
      _ = try core.add(NewItem(.genericPassword, name: "first"))
      for number in Int32(0)...2 { close(number) }
      // It is opened again.
      guard try unsafe unlink(tests.file) == 0 else { fatalError("no witness") }
      for name in ["a", "b", "c"] {
        _ = try core.add(NewItem(.genericPassword, name: name))
        for output in Int32(0)...2 { unsafe write(output, "printed", 7) }
      }
      let status = try core.status()
      guard vault.protector.seenSequence(under: status.deviceKey, of: status.vault) == status.sequence else {
        fatalError("printed into the witness")
      }
    }
  }

  /// A daemon closes what it has inherited and opens files of its own: the numbers are given again.
  ///
  /// Verified to fail when what is open under the number is not compared with what was opened.
  @Test("another file under the descriptor of a closed witness is neither written to nor closed")
  func reused() async {
    await #expect(processExitsWith: .success) {
      let vault = TemporaryVault()
      let other = vault.folder + "/other"
      var descriptors: [Int32] = []
      do {
        let core = try vault.makeCore()
        _ = try core.add(NewItem(.genericPassword, name: "a"))
        let witness = (3..<256).filter { number in
          let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
          return target?.hasSuffix(".seen") ?? false
        }
        try Data("another's".utf8).write(to: URL(fileURLWithPath: other))
        for number in witness {
          let file = unsafe open(other, O_RDWR | O_CLOEXEC)
          dup2(file, Int32(number))
          close(file)
          descriptors.append(Int32(number))
        }
        guard !descriptors.isEmpty else { fatalError("no witness is open") }
        _ = try core.add(NewItem(.genericPassword, name: "b"))
        let status = try core.status()
        guard vault.protector.seenSequence(under: status.deviceKey, of: status.vault) == status.sequence
        else {
          fatalError("not noted")
        }
        for number in descriptors { guard fcntl(number, F_GETFD) >= 0 else { fatalError("closed") } }
      }
      for number in descriptors { guard fcntl(number, F_GETFD) >= 0 else { fatalError("closed at the end") } }
      guard try Data(contentsOf: URL(fileURLWithPath: other)) == Data("another's".utf8) else {
        fatalError("written to")
      }
    }
  }
}
