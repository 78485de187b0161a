import Foundation
import TestSupport
import Testing

/// Programs that start programs, which inherit no descriptor.
///
/// Verified to fail with the tool from before these tests: each child found no file under `/proc/self/fd`.
@Suite("vaultctl run with programs that start programs", .bounded, .requirement("U1"))
struct ExecChildTests {
  private func newTool(_ secret: [UInt8]) throws -> Tool {
    let tool = try Tool()
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    try expect(tool("add", "k", input: secret).exit, equals: 0)
    return tool
  }

  @Test("a child of Python, a child of that child, and a child of its own session open the path")
  func python() throws {
    let tool = try newTool(Array("key".utf8))
    let script = """
      import os, subprocess
      path = os.environ["F"]
      assert path.startswith("/proc/%d/fd/" % os.getpid()), path
      print(open(path).read(), flush=True)
      subprocess.check_call(["cat", path])
      subprocess.check_call(["sh", "-c", 'sh -c "cat $F; true"; true'], start_new_session=True)
      """
    let run = try tool("run", "--file", "F=k", "--", Shell.need("python3"), "-c", script)
    expect(run.text, equals: "key\nkeykey", "\(run.errors)")
  }

  @Test("ssh-keygen and ssh read a private key, from a shell and from Python")
  func secureShell() throws {
    let (keygen, ssh) = (try Shell.need("ssh-keygen"), try Shell.need("ssh"))
    let maker = try Tool()
    let path = maker.home.path + "/key"
    try expect(maker.run(["-q", "-t", "ed25519", "-N", "", "-f", path], program: keygen).exit, equals: 0)
    let tool = try newTool(Array(try Data(contentsOf: URL(fileURLWithPath: path))))
    let open = #"import os, subprocess, sys; sys.exit(subprocess.call([*sys.argv[1:], os.environ["F"]]))"#
    let shown = try tool(
      "run", "--file", "F=k", "--", Shell.need("python3"), "-c", open, keygen, "-y", "-f")
    #expect(shown.exit == 0 && shown.text.hasPrefix("ssh-ed25519 "), "\(shown.errors)")
    // Nobody listens there: before ssh connects, it looks at the key.
    let run = try tool(
      "run", "--file", "F=k", "--", "sh", "-c", #""$0" -o BatchMode=yes -i "$F" -p 1 127.0.0.1; exit $?"#,
      ssh)
    #expect(run.exit == 255 && run.errors.contains("refused"), "\(run.errors)")
    #expect(!run.errors.contains("not accessible"), "\(run.errors)")
  }

  @Test("the path ends with the program")
  func end() throws {
    let tool = try newTool(Array("key".utf8))
    let run = try tool("run", "--file", "F=k", "--", "sh", "-c", #"printf %s "$F""#)
    #expect(run.text.hasPrefix("/proc/") && !FileManager.default.fileExists(atPath: run.text), "\(run.text)")
  }
}
