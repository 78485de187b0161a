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
    let run = try tool.run(["add", "mail", "--device-key", key] + passcode, input: [112, 119])
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
      "$T" vault rotate device-key --no-input; echo "exit $?"; "$T" item get mail --no-input
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
      #"VAULTCTL_DEVICE_KEY=/proc/self/fd/4 "$T" item get mail --passcode-file /dev/stdin 4< key < pass"#,
    ])
  func descriptors(line: String) throws {
    let run = try shell(line, in: try newTool())
    expect(run.text, equals: "pw", "\(run.errors)")
    let closed = try shell(#""$T" item get mail --device-key-fd 9 --passcode-file pass"#, in: try newTool())
    #expect(closed.exit == 11 && closed.errors.contains("9<FILE"), "\(closed.errors)")
  }

  /// Verified to fail when the witness is looked for beside the key alone.
  @Test(
    "what was seen last of a vault whose key comes by a descriptor is remembered, also when the key is moved into a file"
  )
  func witness() throws {
    let run = try shell(
      """
      v=.local/share/vaultctl/default.vault; rm key.seen; o() { "$T" "$@" --passcode-file pass --device-key-fd 3 3< key; }
      printf 1 | o item add one; cp $v old; printf 2 | o item add two; cat old > $v
      o item get mail; cat old > $v; cp -p key moved; "$T" item get mail --passcode-file pass --device-key moved
      ls -d *.seen; find .local/state -name '*.key.seen' | wc -l
      """, in: try newTool())
    expect(run.text, equals: "pwpwmoved.seen\n1\n", "\(run.errors)")
    let told = run.errors.components(separatedBy: "an older state was put back").count - 1
    expect(told, equals: 2, "\(run.errors)")
    #expect(!run.errors.contains("could not be remembered"), "\(run.errors)")
  }

  /// Verified to fail when each change says it, and when none does.
  @Test("where nothing can be remembered, it is said once for a vault file, and by doctor")
  func noWitness() throws {
    let run = try shell(
      """
      v=.local/share/vaultctl/default.vault; rm key.seen; export XDG_STATE_HOME=$HOME/key/none
      o() { "$T" "$@" --passcode-file pass --device-key-fd 3 3< key; }
      printf 1 | o item add one; echo "- copied" >&2; cp $v copy; mv copy $v
      for n in two three four; do printf 1 | o item add $n; done; o doctor | grep -c 'there is no place for the file'
      """, in: try newTool())
    expect(run.text, equals: "1\n", "\(run.errors)")
    let parts = run.errors.components(separatedBy: "- copied\n")
    let told = parts.map { $0.components(separatedBy: "this change could not be remembered").count - 1 }
    expect(told, equals: [0, 1], "\(run.errors)")
  }

  /// At its end a file gives nothing, so the program opens it again.
  ///
  /// Verified to fail when only the descriptors of passcodes are closed: the program read the device key.
  @Test("a program that exec starts gets no descriptor that brought a secret, whatever named it")
  func closed() throws {
    for words in [
      "--device-key-fd 3 --passcode-file /dev/fd/4", "--device-key /proc/self/fd/3 --passcode-fd 4",
    ] {
      let run = try shell(
        #""$T" exec --env X=mail \#(words) 3< key 4< pass -- sh -c 'cat /dev/fd/3 /dev/fd/4 2> /dev/null; printf "%s" "$X"'"#,
        in: try newTool())
      expect(run.text, equals: "pw", "\(run.errors)")
    }
    let environment = try shell(
      #"VAULTCTL_DEVICE_KEY=/dev/fd/3 "$T" exec --env X=mail --passcode-file pass 3< key -- sh -c 'cat /dev/fd/3 2> /dev/null; printf "%s" "$X"'"#,
      in: try newTool())
    expect(environment.text, equals: "pw", "\(environment.errors)")
  }

  /// Verified to fail when the device key is no secret of the parser.
  @Test(
    "a device key comes one way, by a descriptor of its own, and from an absolute folder of credentials",
    arguments: [
      ("get mail --device-key-fd 3 --device-key key", 2, "--device-key-fd and --device-key are given"),
      ("get mail --device-key-fd 3 --passcode-fd 3", 2, "name the same descriptor"),
      ("add x --device-key-fd 0 --passcode-file pass", 2, "which this command reads as data"),
      ("get mail --device-key-fd 4 --passcode-file pass", 11, "/dev/fd/4: Is a directory"),
      ("get mail --device-key-fd 5 --passcode-file pass", 11, "/dev/fd/5 has not 32 bytes"),
      ("get mail --device-key-fd 6 --passcode-file pass", 11, "/dev/fd/6 has no bytes"),
      ("get mail --device-key pass --passcode-file pass", 11, "pass has not 32 bytes"),
      ("get mail --passcode-file pass --no-input", 11, "there is no "),
    ])
  func ways(words: String, exit: Int32, message: String) throws {
    let run = try shell(
      """
      mkdir -m 700 c; cp -p key c/vaultctl.device-key; export CREDENTIALS_DIRECTORY=c
      "$T" \(words) 3< key 4< . 5< <(head -c 31 key) 6< /dev/null
      """, in: try newTool())
    #expect(run.exit == exit && run.text.isEmpty && run.errors.contains(message), "\(run.errors)")
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

  /// Verified to fail when a mode that all can write is taken, and when nobody looks at the path.
  @Test(
    "a file that others can change, or replace, is not believed",
    arguments: ["chmod 446 pass", "chmod 777 .", "chown 1 pass"])
  func changeable(fault: String) throws {
    let run = try asUser("chown root:65534 pass key; chmod 440 pass key; \(fault)", with: "key")
    #expect([11, 13].contains(run.exit) && run.text.isEmpty, "\(run.text)\(run.errors)")
  }

  /// Runs `get mail` as nobody, whose vault it is.
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
