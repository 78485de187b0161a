import Foundation
import TestSupport
import Testing

/// Verified to fail when the text before the second reference is printed before that one fails, when an inserted secret is read again, when
/// `--out` replaces a file, and when the file of `--out` gets its name before all is resolved.
@Suite("vaultctl inject", .bounded)
struct InjectVerbTests {
  private func newTool() throws -> Tool {
    let tool = try Tool()
    expect(0, try tool("init", "--no-passcode"))
    let words = ["add", "db", "--account", "app", "--service", "pg.example"]
    expect(0, try tool.run(words, input: Array("s3cr3t'\"$".utf8)))
    expect(0, try tool("add", "web/shop", input: Array("{{ vaultctl://db }}".utf8)))
    expect(0, try tool("add", "binary", input: [0, 255, 10, 123, 123]))
    return tool
  }

  private func inject(_ tool: Tool, _ template: String, _ words: String...) throws -> Tool.Run {
    try tool.run(["inject"] + words, input: Array(template.utf8))
  }

  @Test("references are replaced by their values as they are, and all else stays")
  func replaced() throws {
    let tool = try newTool()
    let run = try inject(
      tool, "a: {{ vaultctl://db/password }}@{{vaultctl://db/account}}\r\n{{ .Other }}\u{0}end")
    expect(0, run)
    expect(run.text, equals: "a: s3cr3t'\"$@app\r\n{{ .Other }}\u{0}end")
    let binary = try inject(tool, "{{ vaultctl://binary }}{{ vaultctl://binary/password }}")
    expect(binary.output, equals: [0, 255, 10, 123, 123, 0, 255, 10, 123, 123])
    try expect(inject(tool, "{{ vaultctl://db/service }}").text, equals: "pg.example")
  }

  /// Verified to fail when the trash is not looked at.
  @Test("a reference to what is in the trash says so")
  func inTrash() throws {
    let tool = try newTool()
    expect(0, try tool("rm", "db"))
    let run = try inject(tool, "first\n {{ vaultctl://db }}")
    expect(1, run, "line 2, column 2 of the template, db/password: there is no item with that name")
    expect(1, run, "it is in the trash: 'vaultctl trash restore db' puts it back")
    expect(run.text, equals: "")
  }

  @Test("a value that looks like a reference is text")
  func notReadAgain() throws {
    let tool = try newTool()
    let run = try inject(
      tool, "{{ vaultctl://web/shop/password }} {{vaultctl://web%2Fshop}} {{ vaultctl://db }}")
    expect(run.text, equals: "{{ vaultctl://db }} {{ vaultctl://db }} s3cr3t'\"$")
    // Braces that a value opens are not closed by the template.
    try expect(
      inject(tool, "{{ vaultctl://binary }} vaultctl://db }}").text.hasSuffix(" vaultctl://db }}"),
      equals: true)
  }

  @Test("the names and fields are told before, in their order, and with --json not")
  func told() throws {
    let tool = try newTool()
    let run = try inject(tool, "{{ vaultctl://web%2Fshop }}{{ vaultctl://db/account }}{{ vaultctl://db }}")
    expect(run.errors, equals: "vaultctl: resolving db/account, db/password, web/shop/password\n")
    let none = try inject(tool, "text")
    #expect(none.text == "text" && none.errors == "vaultctl: the template has no reference\n")
    let json = try inject(tool, "{{ vaultctl://db }}", "--json", "--out", tool.home.path + "/j")
    #expect(json.errors.isEmpty)
    #expect(try json.json["references"] as? Int == 1 && json.json["path"] as? String == tool.home.path + "/j")
    expect(2, try inject(tool, "text", "--json"), "--json needs --out")
  }

  @Test(
    "when one reference fails, nothing is written, and no file is left",
    arguments: [
      (
        "a {{ vaultctl://db }} {{ vaultctl://nobody }}", 1,
        "line 1, column 23 of the template, nobody/password: there is no item"
      ),
      (
        "a {{ vaultctl://db }}\n {{ vaultctl://db/PIN }}", 1,
        "line 2, column 2 of the template, db/PIN: the entry has no field \"PIN\""
      ),
      (
        "a {{ vaultctl://db }} {{ vaultctl://code }}", 9,
        "column 23 of the template, code/password: the item is "
      ),
      (
        "a {{ vaultctl://db }} {{ vaultctl://code/account }}", 9,
        "column 23 of the template, code/account: the item is "
      ),
      ("a {{ vaultctl://db }} {{ vaultctl://strict }}", 7, "'strict' expired"),
      ("a {{ vaultctl://db }} {{ vaultctl:// }}", 12, "has no name"),
      ("a {{ vaultctl://db", 12, "not closed"),
      ("a {{ vaultctl://db }} {{ vaultctl://db/ }}", 12, "no field follows"),
      ("a {{ vaultctl://db }} {{ .x vaultctl://db }}", 12, "does not stand alone"),
    ] as [(String, Int32, String)])
  func failing(template: String, exit: Int32, words: String) throws {
    let tool = try newTool()
    let uri = "otpauth://totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    expect(0, try tool("otp", "add", "code", input: Array(uri.utf8)))
    expect(0, try tool("add", "strict", "--expires", "1d", "--expiry", "refuse", input: [65]))
    tool.advance(by: 2 * 86_400)
    let run = try inject(tool, template)
    expect(exit, run, words)
    expect(run.output, equals: [])
    let path = tool.home.path + "/out"
    let file = try inject(tool, template, "--out", path)
    expect(exit, file, words)
    #expect(!FileManager.default.fileExists(atPath: path))
    let names = try FileManager.default.contentsOfDirectory(atPath: tool.home.path)
    #expect(!names.contains { $0.contains("out") }, "\(names)")
  }

  @Test("--out makes a file of mode 0600, and never replaces one")
  func out() throws {
    let tool = try newTool()
    let path = tool.home.path + "/out"
    let run = try tool.run(
      ["-c", "umask 0; printf 'x{{ vaultctl://db }}' | \"$0\" inject --out \"$1\"", Tool.path, path],
      program: "/bin/sh")
    expect(0, run)
    expect(run.output, equals: [])
    let file = URL(fileURLWithPath: path)
    try expect(String(contentsOf: file, encoding: .utf8), equals: "xs3cr3t'\"$")
    expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int, equals: 0o600)
    expect(8, try inject(tool, "y", "--out", path), "there is something already")
    try expect(String(contentsOf: file, encoding: .utf8), equals: "xs3cr3t'\"$")
    try FileManager.default.createSymbolicLink(
      atPath: path + "2", withDestinationPath: tool.home.path + "/other")
    expect(8, try inject(tool, "y", "--out", path + "2"))
    #expect(!FileManager.default.fileExists(atPath: tool.home.path + "/other"))
    expect(13, try inject(tool, "y", "--out", tool.home.path + "/none/out"))
    expect(2, try inject(tool, "y", "--out", "-"))
  }

  @Test("standard output that others can read is refused before anything is resolved")
  func exposed() throws {
    let tool = try newTool()
    let script = "umask 022; printf '{{ vaultctl://db }}' | \"$0\" inject > \"$1\""
    let run = try tool.run(["-c", script, Tool.path, tool.home.path + "/out"], program: "/bin/sh")
    expect(9, run, "a file that others may read")
    try expect(Data(contentsOf: URL(fileURLWithPath: tool.home.path + "/out")), equals: Data())
  }

  @Test("a template of 16 MiB is read, and a longer one is refused, however long it is")
  func long() throws {
    let tool = try newTool()
    let script = "(printf '{{ vaultctl://db }}'; head -c $(($1 - 19)) /dev/zero) | \"$0\" inject | wc -c"
    let whole = try tool.run(["-c", script, Tool.path, "\(16 << 20)"], program: "/bin/sh")
    expect(whole.text.trimmingCharacters(in: .whitespacesAndNewlines), equals: "\((16 << 20) - 19 + 9)")
    for count in [16 << 20 + 1, 64 << 20] {
      let run = try tool.run(["-c", script, Tool.path, "\(count)"], program: "/bin/sh")
      expect(run.text.trimmingCharacters(in: .whitespacesAndNewlines), equals: "0")
      #expect(run.errors.contains("the template is too long, at most 16 MiB are allowed"), "\(run.errors)")
    }
  }

  @Test("an expired password is given with a warning, once")
  func expired() throws {
    let tool = try newTool()
    expect(0, try tool("add", "soft", "--expires", "1d", input: [65]))
    tool.advance(by: 2 * 86_400)
    let run = try inject(
      tool, "{{ vaultctl://soft }}{{ vaultctl://soft/account }}{{ vaultctl://soft/password }}")
    expect(0, run)
    expect(run.text, equals: "AsoftA")
    expect(run.errors.components(separatedBy: "'soft' expired").count, equals: 2)
    try expect(inject(tool, "{{ vaultctl://soft/account }}").errors.contains("expired"), equals: false)
  }

  @Test("a reader that goes away ends it by SIGPIPE, and in a batch it does not run")
  func ends() throws {
    let tool = try newTool()
    let script =
      "(printf '{{ vaultctl://db }}'; head -c 4000000 /dev/zero) | { \"$0\" inject; echo $? >&2; } | head -c 1"
    let run = try tool.run(["-c", script, Tool.path], program: "/bin/sh")
    #expect(run.errors.hasSuffix("\n141\n"), "\(run.errors)")
    let batch = try tool("vault", "batch", input: Array("{\"args\":[\"inject\"],\"stdin\":\"x\"}\n".utf8))
    expect(2, batch)
    expect(2, try tool("inject", "--in", "x"), "vaultctl inject < FILE")
  }

  @Test("in an agent it is the same, also for a file")
  func agent() throws {
    try Tool.$usesAgent.withValue(true) {
      let tool = try newTool()
      let run = try inject(tool, "a {{ vaultctl://db }} {{ vaultctl://web/shop/password }}")
      #expect(
        run.text == "a s3cr3t'\"$ {{ vaultctl://db }}"
          && run.errors.contains("resolving db/password, web/shop/password"))
      expect(0, try inject(tool, "{{ vaultctl://db }}", "--out", tool.home.path + "/out"))
      expect(8, try inject(tool, "{{ vaultctl://db }}", "--out", tool.home.path + "/out"))
      let failing = try inject(
        tool, "a {{ vaultctl://db }} {{ vaultctl://nobody }}", "--out", tool.home.path + "/no")
      expect(1, failing)
      #expect(!FileManager.default.fileExists(atPath: tool.home.path + "/no"))
    }
  }

  @Test("psql takes a connection string that was made from a template")
  func postgres() throws {
    let (psql, python) = (try Shell.need("psql"), try Shell.need("python3"))
    let tool = try Tool()
    expect(0, try tool("init", "--no-passcode"))
    expect(0, try tool("add", "db", input: Array("pass-word".utf8)))
    let template =
      "postgres://app:{{ vaultctl://db/password }}@db.example.org:PORT/app?hostaddr=127.0.0.1&sslmode=disable"
    let run = try tool.run(["-c", Self.server, psql, Tool.path, template], program: python)
    expect(run.text, equals: "pass-word\n", "\(run.errors)")
  }

  /// A server that asks psql for its password in clear, and prints it.
  private static let server = """
    import socket, struct, subprocess, sys, threading
    psql, tool, template = sys.argv[1:]
    listener = socket.create_server(("127.0.0.1", 0))
    template = template.replace("PORT", str(listener.getsockname()[1]))
    place = subprocess.run([tool, "inject"], input=template.encode(), stdout=subprocess.PIPE, check=True).stdout.decode()
    client = subprocess.Popen([psql, "--no-password", "-c", "", place])
    threading.Thread(target=lambda: (client.wait(), listener.shutdown(socket.SHUT_RDWR))).start()
    connection, _ = listener.accept()
    reader = connection.makefile("rb")
    def message(): return reader.read(struct.unpack("!i", reader.read(4))[0] - 4)
    message()
    connection.sendall(b"R" + struct.pack("!ii", 8, 3))
    if reader.read(1) == b"p": print(message()[:-1].decode(), flush=True)
    connection.shutdown(socket.SHUT_RDWR)
    client.wait()
    """
}
