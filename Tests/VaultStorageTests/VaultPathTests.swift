import Foundation
import TestSupport
import Testing
import VaultStorage

@Suite("Where a vault may lie", .bounded)
struct VaultPathTests {
  let folder = TemporaryFolder()

  @Test(
    "a vault that is not there is missing, and nothing is made",
    arguments: [Store.Access.readOnly, .readWrite])
  func missing(access: Store.Access) {
    #expect(throws: StorageError.missing) { try openAndDrop(folder("v"), access) }
    #expect(throws: StorageError.missing) { try openAndDrop(folder("no/such/folder/v"), access) }
    #expect(folder.listing.isEmpty)
  }

  @Test("a path that names no file is refused", arguments: ["", "/", "a/", ".", "..", "x/..", "a\0b"])
  func names(path: String) {
    #expect(throws: StorageError.refused(.notAFileName)) { try openAndDrop(path) }
    #expect(throws: StorageError.refused(.notAFileName)) { _ = try makeVault(at: path) }
  }

  @Test("a link is refused as the vault, and followed among its folders")
  func links() throws {
    do { _ = try makeVault(at: folder("real/v")) }
    try FileManager.default.createSymbolicLink(atPath: folder("link"), withDestinationPath: "real/v")
    try FileManager.default.createSymbolicLink(atPath: folder("way"), withDestinationPath: "real")
    try FileManager.default.createSymbolicLink(atPath: folder("nowhere"), withDestinationPath: "nothing")
    #expect(throws: StorageError.refused(.symbolicLink)) { try openAndDrop(folder("link")) }
    #expect(throws: StorageError.refused(.symbolicLink)) { try openAndDrop(folder("nowhere")) }
    #expect(throws: StorageError.alreadyExists) { _ = try makeVault(at: folder("nowhere")) }
    let store = try Store.open(at: folder("way/v"), access: .readWrite)
    #expect(store.path.hasSuffix("/real/v"))
  }

  /// Verified to fail when nothing looks at their bytes: SQLite removes such a file.
  @Test(
    "a file of the user in the place of one that SQLite keeps beside the vault is named, and stays",
    arguments: ["-wal", "-shm", "-journal"])
  func foreignCompanion(suffix: String) throws {
    let path = folder("v")
    do { _ = try makeVault(at: path) }
    let vault = try Array(Data(contentsOf: URL(fileURLWithPath: path)))
    for content in [Array("precious\n".utf8), vault, [7], Array(repeating: 0xFF, count: 40)] {
      folder.write("v" + suffix, content)
      folder.setMode("v" + suffix, 0o600)
      for access in [Store.Access.readWrite, .readOnly] {
        #expect(
          throws: StorageError.refusedBeside(.notOfSQLite, path: path.replacing("//", with: "/") + suffix)
        ) {
          _ = try Store.open(at: path, access: access)
        }
      }
      expect(FileManager.default.contents(atPath: path + suffix), equals: Data(content))
      folder.remove("v" + suffix)
    }
    // What SQLite leaves, also before it was killed, is no obstacle.
    for content in [[], [0, 0, 0], [UInt8](repeating: 0, count: 64)] {
      folder.write("v" + suffix, content)
      folder.setMode("v" + suffix, 0o600)
      try openAndDrop(path)
      folder.remove("v" + suffix)
    }
  }

  @Test(
    "a link or a folder in the place of a file beside the vault is refused, and named",
    arguments: ["-wal", "-shm", "-journal"])
  func companions(suffix: String) throws {
    do { _ = try makeVault(at: folder("v")) }
    let path = folder("v" + suffix).replacing("//", with: "/")
    try FileManager.default.createSymbolicLink(atPath: folder("v" + suffix), withDestinationPath: "/dev/null")
    #expect(throws: StorageError.refusedBeside(.symbolicLink, path: path)) { try openAndDrop(folder("v")) }
    folder.remove("v" + suffix)
    try FileManager.default.createDirectory(atPath: folder("v" + suffix), withIntermediateDirectories: false)
    #expect(throws: StorageError.refusedBeside(.notARegularFile, path: path)) { try openAndDrop(folder("v")) }
    folder.remove("v" + suffix)
    folder.write("v" + suffix)
    folder.setMode("v" + suffix, 0o644)
    #expect(throws: StorageError.refusedBeside(.openToOthers(mode: 0o644), path: path)) {
      try openAndDrop(folder("v"))
    }
  }

  @Test(
    "a file beside the vault that has a second name is refused, and what has that name is not written",
    arguments: ["-wal", "-shm", "-journal"])
  func companionsOfSecondName(suffix: String) throws {
    do { _ = try makeVault(at: folder("v")) }
    folder.write("mine", [1, 2, 3])
    folder.setMode("mine", 0o600)
    unsafe expect(link(folder("mine"), folder("v" + suffix)), equals: 0)
    let path = folder("v" + suffix).replacing("//", with: "/")
    for access in [Store.Access.readOnly, .readWrite] {
      #expect(throws: StorageError.refusedBeside(.severalNames, path: path)) {
        try openAndDrop(folder("v"), access)
      }
    }
    try expect(Data(contentsOf: URL(fileURLWithPath: folder("mine"))), equals: Data([1, 2, 3]))
    folder.remove("v" + suffix)
    try openAndDrop(folder("v"))
  }

  /// Verified to fail when the number of links is not looked at.
  @Test("a vault with a second name is refused, and opens again when that name is gone", .requirement("S3"))
  func secondName() throws {
    do { _ = try makeVault(at: folder("v")) }
    unsafe expect(link(folder("v"), folder("w")), equals: 0)
    for name in ["v", "w"] {
      for access in [Store.Access.readOnly, .readWrite] {
        #expect(throws: StorageError.refused(.severalNames)) { try openAndDrop(folder(name), access) }
      }
    }
    folder.remove("w")
    try openAndDrop(folder("v"))
  }

  @Test("what is no regular file is refused without waiting for it")
  func special() throws {
    _ = unsafe mkfifo(folder("fifo"), 0o600)
    _ = unsafe mkdir(folder("dir"), 0o700)
    #expect(throws: StorageError.refused(.notARegularFile)) { try openAndDrop(folder("fifo")) }
    #expect(throws: StorageError.refused(.notARegularFile)) { try openAndDrop(folder("dir")) }
    #expect(throws: StorageError.refused(.notARegularFile)) { try openAndDrop("/dev/null") }
  }

  @Test(
    "a file that others may read or write is refused", arguments: [0o640, 0o604, 0o620, 0o666] as [mode_t])
  func mode(mode: mode_t) throws {
    do { _ = try makeVault(at: folder("v")) }
    folder.setMode("v", mode)
    #expect(throws: StorageError.refused(.openToOthers(mode: mode))) { try openAndDrop(folder("v")) }
  }

  @Test("a folder that others may write is refused unless it is sticky, for opening and for making")
  func folderMode() throws {
    do { _ = try makeVault(at: folder("d/v")) }
    for mode in [0o770, 0o707, 0o777] as [mode_t] {
      folder.setMode("d", mode)
      #expect(throws: StorageError.refused(.folderWritableByOthers(mode: mode))) {
        try openAndDrop(folder("d/v"))
      }
      #expect(throws: StorageError.refused(.folderWritableByOthers(mode: mode))) {
        _ = try makeVault(at: folder("d/w"))
      }
    }
    folder.setMode("d", 0o1777)
    try openAndDrop(folder("d/v"))
    try expect(FileManager.default.contentsOfDirectory(atPath: folder("d")), equals: ["v"])
  }

  @Test("root's file is refused to another user")
  func rootsFile() async {
    await #expect(processExitsWith: .success) {
      becomeOrdinary(TemporaryFolder())
      let code = outcome(expecting: .refused(.foreignOwner)) { try openAndDrop("/etc/passwd") }
      require(code == 0, "\(code)")
    }
  }

  @Test("a file or folder of another user is refused to root")
  func owner() throws {
    try needRoot("files of another user")
    do { _ = try makeVault(at: folder("v")) }
    folder.setOwner("v", 65_534)
    #expect(throws: StorageError.refused(.foreignOwner)) { try openAndDrop(folder("v")) }
    folder.setOwner("v", 0)
    folder.write("v-wal")
    let path = folder("v-wal").replacing("//", with: "/")
    folder.setOwner("v-wal", 65_534)
    #expect(throws: StorageError.refusedBeside(.foreignOwner, path: path)) { try openAndDrop(folder("v")) }
    folder.remove("v-wal")
    folder.setOwner("", 65_534)
    #expect(throws: StorageError.refused(.folderForeignOwner)) { try openAndDrop(folder("v")) }
    #expect(throws: StorageError.refused(.folderForeignOwner)) { _ = try makeVault(at: folder("w")) }
    folder.setOwner("", 0)
    try openAndDrop(folder("v"))
  }

  @Test("folders that are missing are made for us alone, files beside the vault too")
  func folders() throws {
    let store = try makeVault(at: folder("a/b/c/v"))
    expect(folder.permissions("a"), equals: 0o700)
    expect(folder.permissions("a/b/c"), equals: 0o700)
    expect(folder.permissions("a/b/c/v"), equals: 0o600)
    expect(folder.permissions("a/b/c/v-wal"), equals: 0o600)
    expect(folder.permissions("a/b/c/v-shm"), equals: 0o600)
    try expect(
      FileManager.default.contentsOfDirectory(atPath: folder("a/b/c")).sorted(),
      equals: [
        "v", "v-shm", "v-wal",
      ])
    withExtendedLifetime(store.path) {}
  }

  @Test(
    "odd names are taken as they are",
    arguments: ["a b", "ü%41?mode=x&y#z", "-rf", "file:v", "new\nline", ":memory:"])
  func oddNames(name: String) throws {
    do { _ = try makeVault(at: folder(name)) }
    expect(folder.names, equals: [name])
    folder.setMode(name, 0o400)
    var store = try Store.open(at: folder(name), access: .readWrite)
    try expect(store.counts().items, equals: 3)
  }

  @Test("the mount table is read for the kind of a FUSE mount")
  func mounts() {
    let text = """
      36 35 98:0 /a\\040b /mnt1 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
      40 35 0:52 / /mnt2 rw shared:5 master:2 - fuse.sshfs me@host:/ rw,user_id=0
      41 35 0:53 / /mnt3 rw - fuse.gocryptfs /x rw
      """
    expect(MountTable.type(ofDevice: makedev(98, 0), in: text), equals: "ext3")
    expect(MountTable.type(ofDevice: makedev(0, 52), in: text), equals: "fuse.sshfs")
    #expect(MountTable.type(ofDevice: makedev(0, 5), in: text) == nil)
    expect(NetworkFileSystem.refusedFUSE("fuse.sshfs"), equals: "fuse.sshfs")
    #expect(NetworkFileSystem.refusedFUSE("fuse.gocryptfs") == nil)
    expect(NetworkFileSystem.refusedFUSE(nil), equals: "fuse")
    let types: [Int64] = [0x6969, 0xFF53_4D42, 0xFE53_4D42, 0x0102_1997, 0x5346_414F, 0x6B41_4653]
    expect(types.map(NetworkFileSystem.name(ofType:)), equals: ["nfs", "cifs", "smb2", "9p", "afs", "afs"])
    #expect(NetworkFileSystem.name(ofType: 0xEF53) == nil, "ext4")
  }

  private func makedev(_ major: UInt64, _ minor: UInt64) -> UInt64 { major << 8 | minor }
}
