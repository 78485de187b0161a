import Foundation
import TestSupport
import Testing

/// What is in the way when old device keys are removed. Each test but the one of a killed rotation verified to fail on commit f00eb83.
@Suite("Old device keys with something in the way", .bounded)
struct OldKeyVerbTests {
  private let tool: Tool
  private let keys: KeyFolder
  /// Two keys that the vault has replaced, still there.
  private let old: [String]

  init() throws {
    let tool = try Tool()
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    let keys = try KeyFolder(tool)
    old = try (0..<2).map { _ in
      let id = try #require(try tool("status", "--json").json["deviceKey"] as? String)
      let content = try #require(FileManager.default.contents(atPath: id))
      try expect(tool("vault", "rotate", "device-key").exit, equals: 0)
      #expect(
        FileManager.default.createFile(
          atPath: id, contents: content, attributes: [.posixPermissions: 0o600]))
      return id
    }
    (self.tool, self.keys) = (tool, keys)
  }

  @Test("a key file named in capital letters is listed under its real name, and stays")
  func capitals() throws {
    let name = String(repeating: "ABCDEF01", count: 4)
    let capitals = [
      keys.file(name),
      keys.file(
        ((old[0] as NSString).lastPathComponent as NSString)
          .deletingPathExtension.uppercased()),
    ]
    for path in capitals { try Data(repeating: 7, count: 32).write(to: URL(fileURLWithPath: path)) }
    let listed = try tool("vault", "doctor")
    #expect(listed.exit == 0 && !listed.text.contains(name.lowercased()), "\(listed.text)")
    for path in capitals { #expect(listed.text.contains("no key is looked for there: \(path)")) }
    let run = try tool("vault", "doctor", "--remove-old-keys")
    #expect(run.exit == 0 && run.text.contains("2 old device keys were removed"), "\(run.text)")
    for path in capitals { #expect(FileManager.default.fileExists(atPath: path)) }
    for path in old { #expect(!FileManager.default.fileExists(atPath: path)) }
  }

  @Test("a folder of keys named in capital letters is listed under its real name")
  func capitalFolder() throws {
    let name = String(repeating: "ABCDEF01", count: 4)
    let folder = (keys.path as NSString).deletingLastPathComponent + "/" + name
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    try Data(repeating: 7, count: 32).write(
      to: URL(fileURLWithPath: folder + "/" + name.lowercased() + ".key"))
    #expect(try tool("vault", "doctor").text.contains("1 device key of another vault id: \(folder)"))
  }

  @Test("the key that a killed rotation left is named with the way out, and removed with the old ones")
  func left() throws {
    let vault = tool.home.path + "/.local/share/vaultctl/default.vault"
    let name = String(repeating: "5e", count: 16)
    let id = (keys.path as NSString).lastPathComponent
    let attributes = try FileManager.default.attributesOfItem(atPath: vault)
    let inode = String(try #require(attributes[.systemFileNumber] as? UInt64), radix: 16)
    let padded = String(repeating: "0", count: 32 - inode.count) + inode
    let note = try tool.file(".local/share/vaultctl/default.vault.rotating", "\(id) \(name) \(padded)")
    try Data(repeating: 7, count: 32).write(to: URL(fileURLWithPath: keys.file(name)))
    let line = "an interrupted command has left a device key that the vault never had: \(name)"
    let listed = try tool("vault", "doctor")
    #expect(listed.exit == 0 && listed.text.contains(line), "\(listed.text)")
    let run = try tool("vault", "doctor", "--remove-old-keys")
    #expect(run.exit == 0 && run.text.contains("3 old device keys were removed"), "\(run.text)")
    #expect(try keys.count == 1 && !FileManager.default.fileExists(atPath: note))
    try expect(tool("vault", "check").exit, equals: 0)
  }

  @Test(
    "a directory with the name of a replaced key is named, and the other keys are removed",
    arguments: ["vault doctor --remove-old-keys", "vault purge"])
  func directory(words: String) throws {
    try FileManager.default.removeItem(atPath: old[0])
    try FileManager.default.createDirectory(atPath: old[0], withIntermediateDirectories: false)
    let run = try tool.run(words.split(separator: " ").map(String.init))
    expect(run.exit, equals: 0, "\(run.errors)")
    #expect(!FileManager.default.fileExists(atPath: old[1]))
    let listed = try tool("vault", "doctor").text
    #expect(listed.contains("no key is looked for there: \(old[0])") && listed.contains("move it away"))
    try expect(keys.count, equals: 2, "the directory and the present key")
  }

  @Test(
    "what is beside the vault and cannot be read keeps every replaced key, and one line says so",
    arguments: [".before-restore", ".restoring"], [false, true])
  func junk(suffix: String, isDirectory: Bool) throws {
    let file = tool.home.path + "/.local/share/vaultctl/default.vault" + suffix
    if isDirectory {
      try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
    } else {
      try Data("mine".utf8).write(to: URL(fileURLWithPath: file))
    }
    let run = try tool("vault", "doctor", "--remove-old-keys")
    #expect(run.exit == 13 && run.errors.contains("not every old device key was removed"), "\(run.errors)")
    let line = "no replaced device key was removed, because \(file) cannot be read and may need one of them"
    expect(run.text.components(separatedBy: line).count, equals: 2, "\(run.text)")
    // The rest of the report is there.
    #expect(run.text.contains("passcode: ") && run.text.contains("permissions: "))
    let rotation = try tool("vault", "rotate", "device-key")
    #expect(rotation.exit == 0 && rotation.errors.contains("\(file) cannot be read and may need it"))
    let purge = try tool("vault", "purge")
    #expect(purge.exit == 0 && purge.errors.contains(line), "\(purge.errors)")
    for path in old { #expect(FileManager.default.fileExists(atPath: path)) }
    try FileManager.default.removeItem(atPath: file)
    #expect(try tool("vault", "doctor", "--remove-old-keys").exit == 0 && keys.count == 1)
  }
}
