import Foundation
import Glibc
import TestSupport
import Testing

/// What the process of vault-http shows to others.
@Suite("The process of vault-http", .bounded)
struct ProcessTests {
  private static let secret = Data(freshBytes(48).map { 0x41 + $0 % 26 })

  /// Verified to fail when the process stays dumpable.
  @Test("it cannot be dumped, makes no file, and shows no secret in its arguments or variables")
  func hidden() throws {
    try Shell.need("strace")
    let sender = try Sender(
      #"{"go":{"method":"POST","path":"/echo","send":"json","fields":{"c":"{codeBase64}"},"answer":{"tBase64":"body"}}}"#
    )
    let trace = sender.folder.path + "/trace"
    let request = sender.folder.appendingPathComponent("request")
    try Data(Sender.line("go", ["codeBase64": Self.secret.base64EncodedString()])).write(to: request)
    let run = try Program(
      "strace", ["-f", "-s", "4096", "-v", "-o", trace, Built.path("vault-http"), sender.path]
    )
    .run(input: FileHandle(forReadingFrom: request))
    #expect(run.status == 0 && run.text.contains("tBase64"), "\(run.text)")
    let calls = try String(contentsOfFile: trace, encoding: .utf8)
    #expect(calls.contains("prctl(PR_SET_DUMPABLE, SUID_DUMP_DISABLE"))
    // After the first call, only root sees what the arguments point to.
    #expect(calls.contains(geteuid() == 0 ? "RLIMIT_CORE, {rlim_cur=0, rlim_max=0}" : "RLIMIT_CORE, 0x"))
    #expect(!calls.contains("O_CREAT") && !calls.contains("syslog") && !calls.contains("memfd_create"))
    let texts = [String(decoding: Self.secret, as: UTF8.self), Self.secret.base64EncodedString()]
    for line in calls.split(separator: "\n") where texts.contains(where: line.contains) {
      // What it reads is the request; what it writes is the answer, which has the secret here.
      #expect(line.contains(" read(0, ") || line.contains(" write(1, "), "\(line)")
    }
  }

  /// The request, its header and body, the reply and the answer have the secret. Parts of registers are on the stack.
  ///
  /// Verified to fail when libcurl frees without wiping, and when OpenSSL does.
  @Test("no secret is left outside of the stack when it ends")
  func memory() throws {
    try needRoot("the memory of vault-http")
    try Shell.need("gdb")
    let sender = try Sender(
      #"{"go":{"method":"POST","path":"/echo","send":"json","fields":{"c":"{longBase64}"},"#
        + #""headers":{"Authorization":"{codeBase64}"},"answer":{"tBase64":"body"}}}"#)
    func file(_ name: String) -> URL { sender.folder.appendingPathComponent(name) }
    // Often enough to be somewhere in each buffer that it passes.
    let long = Data((0..<600).flatMap { _ in Self.secret })
    let members = ["codeBase64": Self.secret.base64EncodedString(), "longBase64": long.base64EncodedString()]
    try Data(Sender.line("go", members)).write(to: file("request"))
    let patterns = [
      Self.secret[8..<40], Data(Self.secret.base64EncodedString().utf8)[8..<40], Data(sender.path.utf8),
    ]
    try Data(patterns.joined(separator: Data("\n".utf8))).write(to: file("patterns"))
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Peers/https/memory.py")
    var environment = ProcessInfo.processInfo.environment
    environment["PATTERNS"] = file("patterns").path
    environment["REQUEST"] = file("request").path
    environment["ANSWER"] = file("answer").path
    // Not by `Program`, which would pass on that signals are blocked here: gdb waits for one.
    let output = try Scratch()
    var child = Child(
      "gdb", ["-q", "-nx", "-batch", "-x", script.path, "--args", Built.path("vault-http"), sender.path],
      environment)
    child.open(0, "/dev/null")
    child.copy(output.descriptor, to: 1)
    child.copy(output.descriptor, to: 2)
    try expect(child.start().wait(), equals: 0)
    let text = String(decoding: output.content, as: UTF8.self)
    let answer = try String(contentsOf: file("answer"), encoding: .utf8)
    #expect(answer.contains("tBase64"), "\(text)")
    let found = text.matches(of: /found (\d+) (\d+)/).map { (Int($0.1) ?? -1, Int($0.2) ?? -1) }
    try #require(found.count == 3, "\(text)")
    #expect(found[0].1 == 0 && found[1].1 == 0, "\(found)")
    #expect(found[2].0 > 0, "the search finds nothing at all")
  }

  @Test("Ctrl-C ends it at once")
  func interrupted() throws {
    let key = "/hang/\(UUID().uuidString)"
    let sender = try Sender(path: key)
    let request = try sender.start()
    try sender.servers.awaitRequest(key)
    // The server does not answer, and its clock stands still: nothing else ends it.
    request.process.kill(SIGINT)
    try expect(request.process.wait(), equals: -SIGINT)
  }
}
