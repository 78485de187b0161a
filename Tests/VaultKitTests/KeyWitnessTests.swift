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
      let seen = vault.protector.seenCommit(under: status.deviceKey, of: status.vault)
      expect(seen?.sequence, equals: status.sequence)
      return seen?.sequence
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

  @Test("nothing is written into another name of the file, and the number goes on", arguments: [false, true])
  func secondName(isOpen: Bool) throws {
    let core = try vault.makeCore()
    _ = try core.add(NewItem(.genericPassword, name: "a"))
    let other = vault.folder + "/other"
    unsafe expect(link(try file, other), equals: 0)
    let before = try Data(contentsOf: URL(fileURLWithPath: other))
    let later = isOpen ? core : try vault.openCore()
    _ = try later.add(NewItem(.genericPassword, name: "b"))
    _ = try later.add(NewItem(.genericPassword, name: "c"))
    try expect(Data(contentsOf: URL(fileURLWithPath: other)), equals: before)
    let status = try later.status()
    let seen = vault.protector.seenCommit(under: status.deviceKey, of: status.vault)
    expect(seen?.sequence, equals: status.sequence)
    #expect(try Data(contentsOf: URL(fileURLWithPath: file)) != before)
  }

  @Test("a directory in the place of the file is no witness, and stays")
  func directory() throws {
    let core = try vault.makeCore()
    _ = try core.add(NewItem(.genericPassword, name: "a"))
    let file = try file
    #expect(core.remembersCommit)
    #expect(unsafe unlink(file) == 0 && mkdir(file, 0o700) == 0)
    _ = try core.add(NewItem(.genericPassword, name: "b"))
    // Verified to fail when nothing compares what is remembered.
    #expect(!core.remembersCommit)
    _ = try vault.openCore().add(NewItem(.genericPassword, name: "c"))
    try expect(FileManager.default.contentsOfDirectory(atPath: file), equals: [])
  }

  /// Verified to fail when each number is written, and when one that would not have been believed stays.
  @Test("a commit that is told later than the next one does not lower the number")
  func late() throws {
    let status = try vault.makeCore().status()
    let (key, id) = (status.deviceKey, status.vault)
    let believed: UInt64 = 92 + 1 << 32
    for (told, seen) in [
      (90, 90), (91, 91), (90, 91), (92, 92), (1 << 62, 1 << 62), (93, 93), (believed, believed),
      (93, believed),
      (believed + 1, believed + 1), (93, 93), (.max, .max), (93, 93),
    ] as [(UInt64, UInt64)] {
      vault.protector.noteCommit(SeenCommit(sequence: told), under: key, of: id)
      expect(vault.protector.seenCommit(under: key, of: id)?.sequence, equals: seen)
    }
  }

  /// The attack succeeded: a one-use token was given twice (AT4). Verified to fail when the number is read before the lock is
  /// obtained.
  @Test("a number that another process writes while this one waits for its turn stays")
  func race() throws {
    let status = try vault.makeCore().status()
    let witness = vault.protector.witness(of: status.deviceKey, in: status.vault)
    let (here, there) = (witness.open(), witness.open())
    defer {
      close(here)
      close(there)
    }
    KeyWitness.note(SeenCommit(sequence: 50), under: witness.key, in: here)
    let before = try Data(contentsOf: URL(fileURLWithPath: witness.path))
    KeyWitness.note(SeenCommit(sequence: 95), under: witness.key, in: here)
    let newest = try Data(contentsOf: URL(fileURLWithPath: witness.path))
    try put(before, in: there)
    // The other process has the lock.
    expect(flock(there, LOCK_EX | LOCK_NB), equals: 0)
    var waits = 0
    KeyWitness.note(
      SeenCommit(sequence: 92), under: witness.key, in: here,
      pause: { _ in
        waits += 1
        #expect(throws: Never.self) { try put(newest, in: there) }
        return flock(there, LOCK_UN) == 0
      })
    expect(waits, equals: 1)
    expect(witness.seen?.sequence, equals: 95)
    // One that waits in vain writes nothing.
    expect(flock(there, LOCK_EX | LOCK_NB), equals: 0)
    KeyWitness.note(SeenCommit(sequence: 99), under: witness.key, in: here, pause: { _ in false })
    expect(witness.seen?.sequence, equals: 95)
  }

  private func put(_ bytes: Data, in file: Int32) throws {
    let count = unsafe bytes.withUnsafeBytes { unsafe pwrite(file, $0.baseAddress, $0.count, 0) }
    expect(count, equals: bytes.count)
  }

  /// Verified to fail when the witness of another key is always replaced.
  @Test(
    "beside a key file that the user named, a late commit under the earlier key does not replace the one under the next"
  )
  func nextKey() throws {
    let protector = FileProtector(file: vault.folder + "/named.key")
    let core = try VaultCore.create(at: vault.path, protector: protector, environment: vault.environment)
    let old = try core.status()
    try core.rotateDeviceKey()
    let new = try core.status()
    func seen(_ key: DeviceKeyID) -> SeenCommit? { protector.seenCommit(under: key, of: old.vault) }
    expect(seen(new.deviceKey)?.sequence, equals: new.sequence)
    protector.noteCommit(SeenCommit(sequence: old.sequence), under: old.deviceKey, of: old.vault)
    #expect(seen(old.deviceKey) == nil)
    expect(seen(new.deviceKey)?.sequence, equals: new.sequence)
  }

  /// Verified to fail when the check over the bytes is not compared.
  @Test("a witness of 24 bytes is read, and one of two writes is read without its entry")
  func layouts() throws {
    let core = try vault.makeCore()
    let status = try core.status()
    func seen() -> SeenCommit? { vault.protector.seenCommit(under: status.deviceKey, of: status.vault) }
    let entry = try #require(seen()?.entry)
    expect(entry.number, equals: status.auditSequence)
    let whole = try Data(contentsOf: URL(fileURLWithPath: file))
    expect(whole.count, equals: 80)
    func write(_ bytes: Data) throws {
      let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: file))
      try handle.truncate(atOffset: 0)
      try handle.write(contentsOf: bytes)
      try handle.close()
    }
    for count in [24, 25, 79] {
      try write(whole.prefix(count))
      expect(seen(), equals: SeenCommit(sequence: status.sequence))
    }
    for offset in 16..<80 {
      var mixed = whole
      mixed[offset] ^= 1
      try write(mixed)
      #expect(seen() != nil && seen()?.entry == nil, "byte \(offset)")
    }
    for offset in 0..<16 {
      var other = whole
      other[offset] ^= 1
      try write(other)
      #expect(seen() == nil, "byte \(offset)")
    }
    try write(whole.prefix(23))
    #expect(seen() == nil)
    try write(whole + whole)
    expect(seen()?.entry, equals: entry)
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
    expect(
      vault.protector.seenCommit(under: status.deviceKey, of: status.vault)?.sequence, equals: status.sequence
    )
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
      guard vault.protector.seenCommit(under: status.deviceKey, of: status.vault)?.sequence == status.sequence
      else {
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
        guard
          vault.protector.seenCommit(under: status.deviceKey, of: status.vault)?.sequence == status.sequence
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
