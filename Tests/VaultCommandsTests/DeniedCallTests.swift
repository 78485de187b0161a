import Foundation
import TestSupport
import Testing

/// Machines that keep something from every program: an old filter of system calls, or no `/proc`.
///
/// Verified to fail with the tool from before these tests: with `faccessat2`, `renameat2`, `getrandom` or `linkat` denied, what is
/// written here ended with 13; `memfd_create` was "error 38"; without `flock`, `init` waited for ten seconds and said that other
/// processes kept the vault busy. Without `/proc`, each command line was "no command".
@Suite("vaultctl where the system keeps something from it", .bounded)
struct DeniedCallTests {
  private static let uri = Array("otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0".utf8)
  private static let phrase: [Int32: String] = [3: "long phrase"]

  private func tool(without call: String, _ answer: DeniedCall.Answer) throws -> Tool {
    let tool = try Tool()
    tool.environment.merge(try DeniedCall.variables(call, answer)) { _, new in new }
    return tool
  }

  @Test(
    "a call that is denied is no answer: an older one is tried",
    arguments: [
      "faccessat2", "renameat2", "getrandom", "linkat", "statx", "memfd_secret", "openat2", "close_range",
      "pidfd_open",
      "clone3", "rseq",
    ], DeniedCall.Answer.allCases)
  func works(call: String, answer: DeniedCall.Answer) throws {
    let tool = try tool(without: call, answer)
    for (words, input) in [
      (["init", "--no-passcode", "--no-recovery-code"], []), (["add", "mail"], [1, 2]),
      (["otp", "add", "codes"], Self.uri), (["backup", tool.home.path + "/b", "--passphrase-fd", "3"], []),
      (["recovery-code", "new", "--out", tool.home.path + "/code"], []), (["vault", "check"], []),
    ] as [([String], [UInt8])] {
      let run = try tool.run(words, input: input, secrets: Self.phrase)
      expect(run.exit, equals: 0, "\(call) \(answer) \(words): \(run.errors)")
    }
    try expect(tool("get", "mail").output, equals: [1, 2], "\(call) \(answer)")
    try expect(tool("code", "codes").text, equals: "755224\n", "\(call) \(answer)")
    try expect(tool("run", "--fd", "5=mail", "--", "sh", "-c", "cat <&5").output, equals: [1, 2])
  }

  @Test(
    "where there is no other way, the call is named, and doctor names it too",
    arguments: DeniedCall.Answer.allCases)
  func words(answer: DeniedCall.Answer) throws {
    let (vault, phrase) = (try Tool(), Self.phrase)
    try expect(vault("init", "--no-passcode", "--no-recovery-code").exit, equals: 0)
    try expect(vault("add", "mail", input: [1]).exit, equals: 0)
    let backup = vault.home.path + "/b"
    try expect(vault("backup", backup, "--passphrase-fd", "3", secrets: phrase).exit, equals: 0)
    for (call, words, exit) in [
      ("memfd_create", ["run", "--fd", "5=mail", "--", "true"], 13),
      ("renameat2", ["restore", backup, "--replace", "--passphrase-fd", "3"], 15),
    ] as [(String, [String], Int32)] {
      let before = vault.environment
      vault.environment.merge(try DeniedCall.variables(call, answer)) { _, new in new }
      let run = try vault.run(words, secrets: phrase)
      #expect(run.exit == exit && run.errors.contains("'\(call)'"), "\(call) \(answer): \(run.errors)")
      try #expect(vault("doctor").text.contains("denies system calls that this program uses: \(call)"))
      vault.environment = before
    }
  }

  @Test("without locks of files, init says so at once", arguments: DeniedCall.Answer.allCases)
  func locks(answer: DeniedCall.Answer) throws {
    let run = try tool(without: "flock", answer)("init", "--no-passcode", "--no-recovery-code")
    #expect(run.exit == 13 && run.errors.contains("seccomp") && !run.errors.contains("busy"), "\(run.errors)")
  }

  @Test(
    "without /proc every verb works that needs none, and the others say what to mount",
    arguments: ["none", "hidepid"])
  func noProc(how: String) throws {
    try needMounts("a machine without /proc")
    let tool = try Tool()
    let run = try tool.run(
      [
        "-m", "sh", "-c",
        """
        case $1 in none) mount -t tmpfs -o mode=555 none /proc ;; *) mount -t proc -o hidepid=2 none /proc ;; esac
        T=$0; cd "$HOME"
        says() { said=$("$T" "$@" 2>&1); echo "$? $said" | tr '\\n' ' '; echo; }
        says init --no-passcode --no-recovery-code > /dev/null
        printf pw | says item add mail; printf %s "$2" | says otp add codes
        (umask 077; printf 'long phrase' > p)
        says item get mail; says otp code codes; says exec --fd 5=mail -- sh -c 'cat <&5'
        says backup b --passphrase-file p > /dev/null; says restore b --replace --passphrase-file p > out || cat out
        says item get mail; says exec --file F=mail -- sh -c 'cat "$F"'
        says doctor
        """, Tool.path, how, String(decoding: Self.uri, as: UTF8.self),
      ], program: Shell.need("unshare"))
    let lines = run.text.split(separator: "\n").map(String.init)
    #expect(
      lines.prefix(6) == ["0  ", "0  ", "0 pw ", "0 755224 ", "0 pw ", "0 pw "][...],
      "\(run.text)\(run.errors)")
    try #require(lines.count == 8, "\(run.text)\(run.errors)")
    guard how == "none" else { return expect(lines[6], equals: "0 pw ") }
    #expect(lines[6].hasPrefix("13 ") && lines[6].contains("mount /proc"), "\(lines[6])")
    #expect(lines[7].contains("the system does not say whether there is swap"), "\(lines[7])")
  }
}
