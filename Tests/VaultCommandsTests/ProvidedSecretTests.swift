import Foundation
import TestSupport
import Testing

/// Secrets as systemd, containers and shells provide them: credentials, files of root, links, descriptors.
///
/// Verified to fail with the tool from before these tests: a file of root and each link was refused, as were a device key from
/// `/dev/fd/3` and from `<(…)`, and no credential gave a device key.
@Suite("Secrets that something else provides", .bounded)
struct ProvidedSecretTests {
  /// A vault with a passcode and the item `mail`; `pass` and `key` in the home are what opens it.
  private func newTool() throws -> Tool {
    let tool = try Tool()
    _ = try tool.file("pass", "six words of a list")
    let key = tool.home.path + "/key"
    let passcode = ["--passcode-file", tool.home.path + "/pass"]
    try expect(tool.run(["init", "--no-recovery-code", "--device-key", key] + passcode).exit, equals: 0)
    let run = try tool.run(["item", "add", "mail", "--device-key", key] + passcode, input: [112, 119])
    expect(run.exit, equals: 0, "\(run.errors)")
    return tool
  }

  private func shell(_ script: String, in tool: Tool) throws -> Tool.Run {
    try tool.run(["-c", "cd; T=$0; \(script)", Tool.path], program: Shell.need("bash"))
  }

  @Test(
    "passcode and device key are found among the credentials of the service, and the key is not replaced there"
  )
  func credentials() throws {
    let tool = try newTool()
    let run = try shell(
      """
      mkdir -m 700 c; cp -p pass c/vaultctl.passcode; cp -p key c/vaultctl.device-key; rm key
      export CREDENTIALS_DIRECTORY=$HOME/c; "$T" item get mail --no-input
      """, in: tool)
    expect(run.text, equals: "pw", "\(run.errors)")
    let linked = try shell(
      """
      export CREDENTIALS_DIRECTORY=$HOME/c; mv c/vaultctl.device-key real; ln -s ../real c/vaultctl.device-key
      "$T" rotate device-key --no-input; echo "exit $?"; "$T" item get mail --no-input
      """, in: tool)
    expect(linked.text, equals: "exit 9\npw", "\(linked.errors)")
    #expect(
      linked.errors.contains("is provided from outside, so it cannot be replaced there"), "\(linked.errors)")
  }

  @Test(
    "a device key comes by a descriptor: a file, a pipe, and a process substitution",
    arguments: [
      #""$T" item get mail --device-key-fd 3 --passcode-file pass 3< key"#,
      #"cat key | "$T" item get mail --device-key-fd 0 --passcode-file pass"#,
      #""$T" item get mail --device-key /dev/fd/3 --passcode-file pass 3< key"#,
      #""$T" item get mail --device-key <(cat key) --passcode-file <(cat pass)"#,
      #"VAULT_DEVICE_KEY=/proc/self/fd/4 "$T" item get mail --passcode-file /dev/stdin 4< key < pass"#,
    ])
  func descriptors(line: String) throws {
    let run = try shell(line, in: try newTool())
    expect(run.text, equals: "pw", "\(run.errors)")
    let closed = try shell(#""$T" item get mail --device-key-fd 9 --passcode-file pass"#, in: try newTool())
    #expect(closed.exit == 11 && closed.errors.contains("9<FILE"), "\(closed.errors)")
  }

  @Test(
    "a file of root is believed where others than its group cannot change it",
    arguments: [0o440, 0o444, 0o400 | 0o060])
  func ofRoot(mode: Int) throws {
    let run = try asUser("chown root:65534 pass key; chmod \(String(mode, radix: 8)) pass key", with: "key")
    expect(run.text, equals: "pw", "\(run.errors)")
    expect(
      run.errors.contains("every user of this system can read"), equals: mode & 0o004 != 0, "\(run.errors)")
  }

  @Test(
    "a file that others can change, or replace, is not believed",
    arguments: ["chmod 446 pass", "chmod 777 .", "chown 1 pass"])
  func changeable(fault: String) throws {
    let run = try asUser("chown root:65534 pass key; chmod 440 pass key; \(fault)", with: "key")
    #expect([11, 13].contains(run.exit) && run.text.isEmpty, "\(run.text)\(run.errors)")
  }

  /// Runs `item get mail` as nobody, whose vault it is.
  private func asUser(_ provide: String, with key: String) throws -> Tool.Run {
    try needRoot("a file of root for another user")
    let tool = try newTool()
    return try shell(
      """
      d=$(mktemp -d /tmp/provided-XXXXXX); cp -p pass key "$d"; chmod 755 "$d"; cp "$T" "$d/tool" || exit 99
      mkdir "$d/home"; cp -r .local "$d/home"; chown -R 65534:65534 "$d/home"; cd "$d"; \(provide)
      HOME=$d/home setpriv --reuid 65534 --regid 65534 --clear-groups "$d/tool" item get mail --no-input \\
        --device-key "$d/\(key)" --passcode-file "$d/pass" < /dev/null; e=$?; rm -rf "$d"; exit $e
      """, in: tool)
  }
}
