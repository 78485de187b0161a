import Foundation
import TestSupport
import Testing
import VaultStorage

@Suite("Making a vault", .bounded)
struct CreationTests {
  let folder = TemporaryFolder()
  private struct Stop: StorageFailure, Equatable {
    init(_ error: StorageError) {}
    init() {}
  }

  @Test("whatever lies there already stays as it is", arguments: ["", "-wal", "-shm", "-journal"])
  func exists(suffix: String) throws {
    folder.write("v" + suffix, [1, 2, 3])
    let before = folder.listing
    let expected = suffix.isEmpty ? StorageError.alreadyExists : .existsBeside(folder("v" + suffix))
    #expect(throws: expected) { _ = try makeVault(at: folder("v")) }
    expect(folder.listing, equals: before)
  }

  @Test("a making that fails half-way leaves nothing, not even the folders")
  func halfway() throws {
    #expect(throws: Stop()) {
      _ = try Store.create(at: folder("a/b/v")) { (store: inout Store) throws(Stop) in
        do throws(StorageError) { try fill(&store, items: 5) } catch { throw Stop(error) }
        throw Stop()
      }
    }
    #expect(folder.listing.isEmpty)
    #expect(throws: StorageError.duplicate(.row)) {
      _ = try Store.create(at: folder("v")) { (store: inout Store) throws(StorageError) in
        try store.insertSlot(sampleSlot(1))
        try store.insertSlot(sampleSlot(1))
      }
    }
    #expect(folder.listing.isEmpty)
    do { _ = try makeVault(at: folder("a/b/v")) }
    try openAndDrop(folder("a/b/v"))
  }

  /// Verified to fail when an error after the renaming removes the vault.
  @Test(
    "a vault that has its name stays, whatever fails afterwards: it may be in somebody's use",
    .requirement("S11"))
  func afterPublishing() throws {
    #expect(throws: StorageError.refused(.folderWritableByOthers(mode: 0o777))) {
      _ = try Store.create(at: folder("a/v")) { (store: inout Store) throws(StorageError) in
        try fill(&store, items: 5)
        folder.setMode("a", 0o777)
      }
    }
    folder.setMode("a", 0o700)
    var store = try Store.open(at: folder("a/v"), access: .readWrite)
    try expect(store.counts().items, equals: 5)
  }

  @Test("what a killed making left behind does not stand in the way")
  func leftovers() throws {
    for (suffix, start) in Self.drafts {
      // SQLite makes an index of three zeros first.
      let begun: [UInt8] = suffix.isEmpty ? [] : Array(start.prefix(3))
      for content in [
        start + [UInt8](repeating: 7, count: 30_000), start + [7], [], begun,
        suffix == "-shm" ? [0, 0, 0] : [],
      ] {
        folder.write(".v.new" + suffix, content)
        folder.setMode(".v.new" + suffix, 0o600)
        // With a key on its way, and without one.
        let text = lockText(noting: ".v.new" + suffix)
        writeLock(content.count > 1_000 ? text : Array(text.suffix(32)))
        do { _ = try makeVault(at: folder("v")) }
        expect(folder.names, equals: ["v"], "\(suffix)")
        folder.remove("v")
      }
    }
    // An empty file is nobody's, with a note or without.
    folder.write(".v.new")
    folder.setMode(".v.new", 0o600)
    writeLock()
    do { _ = try makeVault(at: folder("v")) }
    expect(folder.names, equals: ["v"])
  }

  /// How SQLite begins its files.
  private static let drafts: [(suffix: String, start: [UInt8])] = [
    ("", Array("SQLite format 3\0".utf8) + [UInt8](repeating: 0, count: 56)),
    ("-wal", [0x37, 0x7F, 0x06, 0x82]), ("-shm", [0x18, 0xE2, 0x2D, 0]),
    ("-journal", [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]),
  ]

  @Test(
    "a file of the user with the name of a draft is named and stays, and no vault is made",
    .requirement("S11"))
  func foreignDraft() throws {
    for (suffix, start) in Self.drafts {
      let name = ".v.new" + suffix
      let mine = Array("mine\n".utf8)
      let cases: [(content: [UInt8], mode: mode_t, isNoted: Bool)] = [
        (mine, 0o600, false), (start, 0o600, false), (start, 0o644, true), ([], 0o644, true),
        // A database is the draft by its note alone, and nothing else is told by its beginning.
        (suffix.isEmpty ? mine : mine + start, 0o600, !suffix.isEmpty),
      ]
      for (content, mode, isNoted) in cases {
        folder.write(name, content)
        folder.setMode(name, mode)
        writeLock(isNoted ? lockText(noting: name) : [])
        try expectKept(name, content: content)
        folder.remove(name)
      }
    }
  }

  /// Verified to fail when the number of the file is not compared. On commit d4900947 whatever SQLite had begun was removed beside a lock.
  @Test(
    "a vault that the user put in the place of a draft stays, whatever the lock says", .requirement("S11"))
  func vaultInPlaceOfDraft() throws {
    do { _ = try makeVault(at: folder("mine")) }
    let content = Array(try Data(contentsOf: URL(fileURLWithPath: folder("mine"))))
    folder.write(".v.new")
    let other = lockText(noting: ".v.new")
    folder.remove(".v.new")
    try FileManager.default.moveItem(atPath: folder("mine"), toPath: folder(".v.new"))
    for note in [[], Self.note, other] {
      writeLock(note)
      try expectKept(".v.new", content: content)
    }
  }

  /// Verified to fail on commit 9ab94cd5: the making that was refused removed the draft and the note, so that nothing named the key.
  @Test("a making that a file of the user stops leaves a draft with its note to the next one")
  func draftBesideForeignFile() throws {
    folder.write(".v.new")
    folder.setMode(".v.new", 0o600)
    writeLock(Self.note)
    folder.write(".v.new-wal", Array("mine".utf8))
    #expect(obstacle { _ = try makeVault(at: folder("v")) } != nil)
    expect(folder.names.sorted(), equals: [".v.new", ".v.new-wal", "v.lock"])
    expect(FileManager.default.contents(atPath: folder("v.lock")), equals: Data(Self.note))
    folder.remove(".v.new-wal")
    let place = try NewVaultPlace.prepare(folder("v"))
    expect(Array(place.left.utf8), equals: Array(Self.note.prefix(65)))
    place.abandon()
  }

  /// The lock of a process that was killed.
  private func writeLock(_ note: [UInt8] = []) {
    folder.write("v.lock", note)
    folder.setMode("v.lock", 0o600)
  }

  /// A note about the file that has a name now.
  private func lockText(noting name: String) -> [UInt8] {
    var about = stat()
    guard unsafe lstat(folder(name), &about) == 0 else { return [] }
    let digits = String(about.st_ino, radix: 16)
    return Self.note.prefix(66) + Array((String(repeating: "0", count: 32 - digits.count) + digits).utf8)
  }

  /// Making a vault at `v` is refused because of the file, which stays. So it is where there is a vault already.
  private func expectKept(_ name: String, content: [UInt8]) throws {
    let path = obstacle { _ = try makeVault(at: folder("v")) }
    expect(path.map { URL(fileURLWithPath: $0).lastPathComponent }, equals: name)
    expect(FileManager.default.contents(atPath: folder(name)), equals: Data(content))
    folder.write("v", [1])
    #expect(throws: StorageError.alreadyExists) { _ = try makeVault(at: folder("v")) }
    folder.remove("v")
    expect(folder.names, equals: [name])
    expect(FileManager.default.contents(atPath: folder(name)), equals: Data(content))
  }

  @Test("a pipe, a link or a second name of a file in the place of a draft is named and stays")
  func otherKindOfDraft() throws {
    folder.write("mine")
    folder.setMode("mine", 0o600)
    for (suffix, _) in Self.drafts {
      let path = folder(".v.new" + suffix)
      let kinds: [() -> Int32] = [
        { unsafe link(folder("mine"), path) }, { unsafe symlink(folder("mine"), path) },
        { unsafe mkfifo(path, 0o600) },
      ]
      for make in kinds {
        expect(make(), equals: 0)
        writeLock()
        let found = obstacle { _ = try makeVault(at: folder("v")) }
        expect(found.map { URL(fileURLWithPath: $0).lastPathComponent }, equals: ".v.new" + suffix)
        expect(folder.names.sorted(), equals: [".v.new" + suffix, "mine"])
        folder.remove(".v.new" + suffix)
      }
    }
  }

  /// As a restore leaves one: a vault, a key, and a file. A backup leaves the file alone.
  private static let note = Array(
    "\(String(repeating: "0af7", count: 8)) \(String(repeating: "29be", count: 8)) \(String(repeating: "0", count: 32))"
      .utf8)

  @Test(
    "the lock of a process that was killed after its vault got its name is removed by the next opening",
    arguments: [[], note])
  func leftLock(content: [UInt8]) throws {
    do { _ = try makeVault(at: folder("v")) }
    writeLock(content)
    try openAndDrop(folder("v"))
    #expect(!folder.names.contains("v.lock"))
  }

  @Test(
    "a lock that is held, or that stands beside an unfinished file, stays at an opening",
    arguments: ["held", "unfinished"])
  func otherLock(kind: String) throws {
    do { _ = try makeVault(at: folder("v")) }
    writeLock(Self.note)
    if kind == "unfinished" { folder.write(".v.new") }
    let file = unsafe open(folder("v.lock"), O_RDWR | O_CLOEXEC)
    if kind == "held" { try #require(flock(file, LOCK_EX | LOCK_NB) == 0) }
    try openAndDrop(folder("v"))
    close(file)
    #expect(folder.names.contains("v.lock"))
  }

  // On commit 7af909cd an opening removes such a file, and so does a making.
  @Test(
    "a file of the user in the place of a lock stays: an opening goes on, and a making is refused",
    arguments: [
      [7], Array("mine\n".utf8), Array("KODB-RHIW-G6OY\n".utf8), note + [10],
      [UInt8](repeating: 48, count: 129),
    ])
  func ownFile(content: [UInt8]) throws {
    do { _ = try makeVault(at: folder("v")) }
    folder.write("v.lock", content)
    folder.write("w.lock", content)
    let before = folder.listing
    try openAndDrop(folder("v"))
    let path = folder("w.lock").replacing("//", with: "/")
    #expect(throws: StorageError.refusedBeside(.notALock, path: path)) { _ = try makeVault(at: folder("w")) }
    expect(folder.listing, equals: before)
  }

  @Test("a lock that has a second name, or is a directory, a link or a pipe, is named and not written")
  func otherKindOfLock() throws {
    let path = folder("v.lock").replacing("//", with: "/")
    folder.write("mine")
    let kinds: [(StorageError.Refusal, () -> Int32)] = [
      (.severalNames, { unsafe link(folder("mine"), path) }), (.notALock, { unsafe mkdir(path, 0o700) }),
      (.notALock, { unsafe symlink(folder("mine"), path) }), (.notALock, { unsafe mkfifo(path, 0o600) }),
    ]
    for (refusal, make) in kinds {
      expect(make(), equals: 0)
      #expect(throws: StorageError.refusedBeside(refusal, path: path)) { _ = try makeVault(at: folder("v")) }
      try expect(Data(contentsOf: URL(fileURLWithPath: folder("mine"))).count, equals: 0)
      expect(folder.names.sorted(), equals: ["mine", "v.lock"])
      folder.remove("v.lock")
    }
    do { _ = try makeVault(at: folder("v")) }
  }

  @Test(
    "no vault is made under the name of a file that belongs to another one",
    arguments: [
      "-wal", "-shm", "-journal", ".lock", ".seen", ".0123456789abcdef0123456789ABCDEF.new", ".rotating",
      ".asking-0123456789abcdef0123456789abcdef", ".before-restore", ".restoring",
      ".restoring-0123456789abcdef0123456789ABCDEF",
      ".restoring-0123456789abcdef0123456789abcdef-wal", ".restoring-0123456789abcdef0123456789abcdef.lock",
    ])
  func sideFile(suffix: String) throws {
    do { _ = try makeVault(at: folder("v")) }
    let before = folder.names
    let error = StorageError.nameOfSideFile(folder("v" + suffix), owner: folder("v"))
    #expect(throws: error) { _ = try makeVault(at: folder("v" + suffix)) }
    expect(folder.names, equals: before)
    do { _ = try makeVault(at: folder("other" + suffix)) }
  }

  @Test(
    "the name of a draft is refused whether its vault exists or not: whoever makes that one removes the draft",
    arguments: [".v.new", ".v.new-wal", ".v.new-journal", ".v.unfinished"])
  func draft(name: String) throws {
    let error = StorageError.nameOfSideFile(folder(name), owner: folder("v"))
    #expect(throws: error) { _ = try makeVault(at: folder(name)) }
    #expect(folder.names.isEmpty)
    do { _ = try makeVault(at: folder("v")) }
    #expect(throws: error) { _ = try makeVault(at: folder(name)) }
  }

  @Test(
    "names that only look like those of side files are the user's own",
    arguments: [
      "-wal", ".lock", ".seen", ".new", "v.new", "v.0123.new", "v-wall", ".unfinished", ".rotating",
      "v.restorings", "v.restoring-0123", "v.asking-0123", ".asking-0123456789abcdef0123456789abcdef",
      ".before-restore", "v.before-restore-2",
    ])
  func ownName(name: String) throws {
    do { _ = try makeVault(at: folder("v")) }
    do { _ = try makeVault(at: folder(name)) }
    try openAndDrop(folder("v"))
  }

  @Test(
    "a directory in the place of a file that a making needs is named, and stays",
    arguments: ["v-wal", "v-shm", ".v.new", ".v.new-wal"])
  func directory(name: String) throws {
    unsafe expect(mkdir(folder(name), 0o700), equals: 0)
    let path = obstacle { _ = try makeVault(at: folder("v")) }
    expect(path.map { URL(fileURLWithPath: $0).lastPathComponent }, equals: name)
    expect(folder.names, equals: [name])
  }

  /// The path of what stood in the way of a vault.
  private func obstacle(_ make: () throws -> Void) -> String? {
    do { try make() } catch {
      if case .existsBeside(let path)? = error as? StorageError { return path }
    }
    return nil
  }

  @Test("until the making is done nothing lies under the name, and a second making waits, then finds it")
  func race() async throws {
    let path = folder("v")
    let winners = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<8 {
        group.addTask {
          do throws(StorageError) {
            _ = try Store.create(at: path) { (store: inout Store) throws(StorageError) in
              #expect(unsafe access(path, F_OK) != 0)
              try fill(&store, items: 20)
            }
            return true
          } catch {
            expect(error, equals: .alreadyExists)
            return false
          }
        }
      }
      return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
    expect(winners, equals: 1)
    var store = try Store.open(at: path, access: .readOnly)
    try expect(store.counts().items, equals: 20)
  }

  @Test("the umask does not matter")
  func umask() async {
    await #expect(processExitsWith: .success) {
      Foundation.umask(0)
      let folder = TemporaryFolder()
      let store = try makeVault(at: folder("a/v"))
      for (name, mode) in [("a", 0o700), ("a/v", 0o600), ("a/v-wal", 0o600), ("a/v-shm", 0o600)] {
        guard folder.permissions(name) == mode else { exit(1) }
      }
      withExtendedLifetime(store.path) {}
    }
  }
}
