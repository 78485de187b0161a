import Foundation
import TestSupport
import Testing

/// Verified to fail with the tool from before these tests: it advised "chmod 600 /etc/passwd" and "chmod 700 '/etc'".
@Suite("Hints that would change a file", .bounded, .requirement("U7"))
struct HintTests {
  /// A vault in the home `home` within the temporary folder, so that there are folders outside of the home.
  private func newTool() throws -> (tool: Tool, outside: String) {
    let tool = try Tool()
    let home = tool.home.path + "/home"
    try FileManager.default.createDirectory(
      atPath: home, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    tool.environment["HOME"] = home
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    return (tool, tool.home.path)
  }

  private func file(_ path: String, _ byteCount: Int) throws -> String {
    try Data(repeating: 65, count: byteCount).write(to: URL(fileURLWithPath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
    return path
  }

  @Test("a device key is to be closed to others only where it is ours, has 32 bytes and is in our home")
  func deviceKey() throws {
    let (tool, outside) = try newTool()
    let home = outside + "/home"
    for path in ["/etc/passwd", try file(outside + "/key", 32), try file(home + "/notes", 33)] {
      let run = try tool("ls", "--device-key", path)
      #expect(run.exit == 11 && !run.errors.contains("chmod"), "\(path): \(run.errors)")
      #expect(run.errors.contains("--device-key"), "\(run.errors)")
    }
    let key = try file(home + "/key", 32)
    let run = try tool("ls", "--device-key", key)
    #expect(run.exit == 11 && run.errors.contains("chmod 600 \(key)"), "\(run.errors)")
    // The path leads out of the home.
    try FileManager.default.createSymbolicLink(atPath: home + "/link", withDestinationPath: outside)
    #expect(try !tool("ls", "--device-key", home + "/link/key").errors.contains("chmod"))
    try FileManager.default.linkItem(atPath: home + "/key", toPath: home + "/second")
    #expect(try !tool("ls", "--device-key", key).errors.contains("chmod"))
  }

  @Test("a vault and the folder that it is in, likewise, by doctor too")
  func vault() throws {
    let (tool, outside) = try newTool()
    for path in ["/etc/passwd", try file(outside + "/vault", 1)] {
      let run = try tool("status", "--vault", path)
      #expect(run.exit != 0 && !run.errors.contains("chmod"), "\(run.errors)")
      let doctor = try tool("vault", "doctor", "--vault", path)
      #expect(doctor.text.contains("permissions") && !doctor.text.contains("chmod"), "\(doctor.text)")
    }
    let own = try file(outside + "/home/vault", 1)
    #expect(try tool("status", "--vault", own).errors.contains("chmod 600 \(own)"))
  }

  @Test("a file with a secret, likewise")
  func secretFile() throws {
    let (tool, outside) = try newTool()
    for path in ["/etc/passwd", try file(outside + "/passcode", 8)] {
      let run = try tool("passcode", "set", "--new-passcode-file", path)
      #expect(run.exit == 13 && !run.errors.contains("chmod"), "\(run.errors)")
    }
    let own = try file(outside + "/home/passcode", 8)
    #expect(try tool("passcode", "set", "--new-passcode-file", own).errors.contains("chmod 600 \(own)"))
  }
}
