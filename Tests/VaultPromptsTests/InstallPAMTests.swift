import Foundation
import TestSupport
import Testing
import VaultPrompts

/// `scripts/install-pam` into a folder of its own: nothing of the system is touched.
@Suite("install-pam", .bounded)
struct InstallPAMTests {
  private let root = FileManager.default.temporaryDirectory.appendingPathComponent(
    "install-\(UUID().uuidString)")
  private var file: URL { root.appendingPathComponent("etc/pam.d/vaultctl") }

  private func script(_ words: String..., umask: String = "022") throws -> (status: Int32, text: String) {
    let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../scripts/install-pam").standardized.path
    let result = try Program(
      "/bin/sh", ["-c", "umask \(umask) && exec \"$0\" \"$@\"", path] + words,
      environment: ["PATH": "/usr/bin:/bin", "DESTDIR": root.path]
    ).run()
    return (result.status, result.text)
  }

  private func entries() -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: root.path + "/etc/pam.d"))?.sorted() ?? []
  }

  /// Verified to fail, here or below, when another file is overwritten, when a file is removed without a look at it,
  /// when the temporary file is left behind, and when the mode is 0600.
  @Test(
    "it installs what --print shows, once, readable by all; a second run changes nothing; --remove takes it away"
  )
  func installs() throws {
    defer { try? FileManager.default.removeItem(at: root) }
    let printed = try script("--print")
    #expect(printed.status == 0 && !FileManager.default.fileExists(atPath: root.path))
    // What the system asks everywhere else, and nothing that is weaker.
    #expect(printed.text.contains("@include common-auth") || printed.text.contains("system-auth"))
    #expect(!printed.text.contains("permit") && !printed.text.contains("sufficient"))

    let first = try script()
    #expect(first.status == 0 && first.text.contains("installed"), "\(first.text)")
    try expect(String(contentsOf: file, encoding: .utf8), equals: printed.text)
    let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
    expect(attributes[.posixPermissions] as? Int, equals: 0o644)
    expect(entries(), equals: ["vaultctl"])

    let again = try script()
    #expect(again.status == 0 && again.text.contains("nothing changed"), "\(again.text)")
    expect(entries(), equals: ["vaultctl"])
    let number = try FileManager.default.attributesOfItem(atPath: file.path)[.systemFileNumber] as? Int
    expect(number, equals: attributes[.systemFileNumber] as? Int)

    try expect(script("--remove").status, equals: 0)
    expect(entries(), equals: [])
    let gone = try script("--remove")
    #expect(gone.status == 0 && gone.text.contains("nothing changed"))
  }

  @Test("a file that somebody edited, or a link, is neither overwritten nor removed")
  func edited() throws {
    defer { try? FileManager.default.removeItem(at: root) }
    try expect(script().status, equals: 0)
    let own = try String(contentsOf: file, encoding: .utf8) + "auth required pam_faillock.so\n"
    try Data(own.utf8).write(to: file)
    for words in [[], ["--remove"]] as [[String]] {
      let run = words.isEmpty ? try script() : try script("--remove")
      #expect(run.status == 1 && run.text.contains("left as it is"), "\(run.text)")
      try expect(String(contentsOf: file, encoding: .utf8), equals: own)
    }
    try FileManager.default.removeItem(at: file)
    try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: "/nonexistent")
    try expect(script().status, equals: 1)
    try expect(script("--remove").status, equals: 1)
    try expect(FileManager.default.destinationOfSymbolicLink(atPath: file.path), equals: "/nonexistent")
    expect(entries(), equals: ["vaultctl"])
  }

  // Verified to fail when the helper is installed with mode 0777.
  @Test(
    "--helper installs the helper where others cannot change it, in place of an older one; --remove takes it away"
  )
  func helper() throws {
    defer { try? FileManager.default.removeItem(at: root) }
    try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
    let built = root.appendingPathComponent("built")
    let installed = root.path + "/usr/libexec/vaultctl/vault-pam"
    try expect(script("--helper", built.path).status, equals: 1)
    for text in ["one", "two"] {
      try Data(text.utf8).write(to: built)
      try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: built.path)
      try expect(script("--helper", built.path).status, equals: 0)
      try expect(String(contentsOfFile: installed, encoding: .utf8), equals: text)
      let mode = try FileManager.default.attributesOfItem(atPath: installed)[.posixPermissions] as? Int
      expect(mode, equals: 0o755)
    }
    try expect(
      FileManager.default.contentsOfDirectory(atPath: root.path + "/usr/libexec/vaultctl").count, equals: 1)
    try expect(script("--remove").status, equals: 0)
    #expect(!FileManager.default.fileExists(atPath: root.path + "/usr/libexec/vaultctl"))
  }

  // Verified to fail when the script keeps the umask that it was started with.
  @Test("what it installs can be reached by all and changed by its owner alone, whatever the umask")
  func modes() throws {
    for umask in ["077", "002"] {
      defer { try? FileManager.default.removeItem(at: root) }
      try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
      try expect(script(umask: umask).status, equals: 0)
      try expect(script("--helper", "/bin/true", umask: umask).status, equals: 0)
      for path in try FileManager.default.subpathsOfDirectory(atPath: root.path) {
        let mode = try FileManager.default.attributesOfItem(atPath: "\(root.path)/\(path)")[.posixPermissions]
        #expect(mode as? Int == (path == "etc/pam.d/vaultctl" ? 0o644 : 0o755), "\(umask) \(path)")
      }
    }
  }

  /// Verified to fail when either has another name.
  @Test("the service that it installs is the one that the programs ask")
  func name() {
    let asked = Mirror(reflecting: PAMPresence()).descendant("service") as? String
    expect(asked, equals: "vaultctl")
    expect(PAMPresence.usualService, equals: "vaultctl")
    expect(file.lastPathComponent, equals: PAMPresence.usualService)
  }

  @Test("words that it does not know are refused, and nothing is made")
  func usage() throws {
    for words in [["--force"], ["--print", "--remove"], ["vaultctl"], ["--helper"]] {
      let run = words.count == 2 ? try script(words[0], words[1]) : try script(words[0])
      expect(run.status, equals: 2, "\(words)")
    }
    #expect(!FileManager.default.fileExists(atPath: root.path))
  }
}
