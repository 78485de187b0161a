import Foundation
import TestSupport
import Testing

/// Programs that refuse a file which others may read.
///
/// Verified to fail with the tool from before these tests: its memory files had mode 666.
@Suite("vaultctl run with programs that look at the mode of a file", .bounded, .requirement("U1"))
struct ExecProgramTests {
  private func newTool(_ name: String, _ secret: [UInt8]) throws -> Tool {
    let tool = try Tool()
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    try expect(tool("add", name, input: secret).exit, equals: 0)
    return tool
  }

  @Test("a memory file has mode 0400, and another process of the same user cannot change its content")
  func mode() throws {
    let tool = try newTool("mail", Array("correct".utf8))
    let script = """
      stat -Lc %a "$F" /proc/self/fd/3
      chmod 600 "$F"
      (printf x >> "$F") 2> /dev/null || echo refused
      (printf x > "$F") 2> /dev/null || echo refused
      cat "$F"
      """
    let run = try tool("run", "--no-masking", "--file", "F=mail", "--fd", "3=mail", "--", "sh", "-c", script)
    expect(run.text, equals: "400\n400\nrefused\nrefused\ncorrect", "\(run.errors)")
  }

  @Test("ssh-add takes a private key")
  func secureShell() throws {
    let (agent, keygen) = (try Shell.need("ssh-agent"), try Shell.need("ssh-keygen"))
    let maker = try Tool()
    let path = maker.home.path + "/key"
    try expect(maker.run(["-q", "-t", "ed25519", "-N", "", "-f", path], program: keygen).exit, equals: 0)
    let tool = try newTool("deploy", Array(try Data(contentsOf: URL(fileURLWithPath: path))))
    let script = #""$0" run --file KEY=deploy -- sh -c 'ssh-add -q "$KEY"' && ssh-add -l"#
    let run = try tool.run(["sh", "-c", script, Tool.path], program: agent)
    #expect(run.exit == 0 && run.text.contains("(ED25519)"), "\(run.errors)")
  }

  @Test("psql takes the line that the guide stores, and sends its password")
  func postgres() throws {
    let (psql, python) = (try Shell.need("psql"), try Shell.need("python3"))
    let guide = try String(
      contentsOf: Tool.repository.appendingPathComponent("docs/guides/scripts-and-services.md"),
      encoding: .utf8)
    let line = try #require(guide.firstMatch(of: /printf %s '(db\.example\.org:5432:[^']*)'/)).output.1
    #expect(guide.contains("run --file PGPASSFILE=pgpass "))
    // The server of this test has a port of its own.
    let tool = try newTool("pgpass", Array(line.replacing(":5432:", with: ":*:").utf8))
    let run = try tool("run", "--file", "PGPASSFILE=pgpass", "--", python, "-c", server, psql)
    expect(run.text, equals: "db-password\n", "\(run.errors)")
  }

  /// Starts psql against a server that asks for the password in clear, and prints what it gets. The end of psql ends the wait for
  /// it.
  private let server = """
    import socket, struct, subprocess, sys, threading
    listener = socket.create_server(("127.0.0.1", 0))
    place = f"host=db.example.org hostaddr=127.0.0.1 port={listener.getsockname()[1]} user=app dbname=app"
    client = subprocess.Popen([sys.argv[1], "--no-password", "-c", "", place], close_fds=False)
    threading.Thread(target=lambda: (client.wait(), listener.shutdown(socket.SHUT_RDWR))).start()
    connection, _ = listener.accept()
    reader = connection.makefile("rb")
    def message(): return reader.read(struct.unpack("!i", reader.read(4))[0] - 4)
    while message()[:4] in (struct.pack("!i", 80877103), struct.pack("!i", 80877104)):
        connection.sendall(b"N")
    connection.sendall(b"R" + struct.pack("!ii", 8, 3))
    if reader.read(1) == b"p": print(message()[:-1].decode(), flush=True)
    connection.shutdown(socket.SHUT_RDWR)
    client.wait()
    """
}
