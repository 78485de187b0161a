import AuthenticatorKit
import Foundation
import Glibc
import SecretMemory
import TestSupport
import Testing
import TransportPrograms
import VaultKit

/// vault-http as the program of `--transport`.
@Suite("vault-http as a transport", .bounded)
struct TransportTests {
  /// A configuration that is a program: its first line names vault-http, by a path without spaces.
  ///
  /// Another process makes the program: a child that another test starts meanwhile would hold a file of ours open for
  /// writing, and such a file cannot be run.
  private func installed(_ sender: Sender) throws -> String {
    let link = sender.folder.path + "/vault-http"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: Built.path("vault-http"))
    let text = try String(contentsOfFile: sender.path, encoding: .utf8)
    try sender.write(Data("#!\(link)\n\(text)".utf8))
    return try install(sender.path, as: sender.folder.path + "/transport")
  }

  private func install(_ draft: String, as path: String) throws -> String {
    try Program("/usr/bin/install", ["-m", "700", draft, path]).run()
    return path
  }

  private func send(
    _ path: String, _ operation: String, _ fields: [(String, TransportValue)] = []
  ) -> Result<TransportFields, VaultError> {
    var all = TransportFields()
    for (name, value) in fields { all[name] = value }
    let request = TransportRequest(TransportOperation(rawValue: operation), id: Sender.id, fields: all)
    do throws(VaultError) {
      let transport = try TransportProgram(path, limits: .init(by: HeldClock().now))
      return .success(try transport.send(request).fields)
    } catch { return .failure(error) }
  }

  private func secret(_ text: String) -> TransportValue {
    .secret(
      TransportSecret(
        SecretBytes(capacity: text.utf8.count) { output in
          for byte in text.utf8 { unsafe output.append(byte, as: UInt8.self) }
        }))
  }

  @Test("the configuration is the program, and secrets come back as secrets")
  func program() throws {
    let sender = try Sender(
      #"{"login":{"method":"POST","path":"/echo","send":"form","fields":{"c":"{codeBase64}"},"answer":{"bodyBase64":"body"}}}"#
    )
    let path = try installed(sender)
    guard
      case .secret(let body)? = try send(path, "login", [("codeBase64", secret("a b"))]).get()["bodyBase64"]
    else { throw CocoaError(.coderValueNotFound) }
    expect(
      body.expose { span in unsafe span.withUnsafeBytes { unsafe Array($0) } }, equals: Array("c=a%20b".utf8))
  }

  @Test("its errors are those of a transport")
  func errors() throws {
    func code(_ path: String, _ rules: String = "[]", at kind: String = "good") throws -> VaultError? {
      let sender = try Sender(#"{"login":{"method":"POST","path":"\#(path)","errors":\#(rules)}}"#, at: kind)
      guard case .failure(let error) = send(try installed(sender), "login") else { return nil }
      return error
    }
    try expect(code("/echo", at: "untrusted")?.code, equals: .network)
    try expect(code("/cut")?.code, equals: .network)
    try expect(code("/status/500")?.code, equals: .peerFailed)
    let refused = try code(
      "/status/400", #"[{"status":"400","code":"CODE","message":"wrong","hint":"look again"}]"#)
    #expect(refused?.code == .authenticationFailed && refused?.message == "wrong")
    expect(refused?.hint, equals: "look again")
    let malformed = try Sender(path: "/echo")
    try malformed.write(Data("{".utf8))
    guard case .failure(let error) = send(try installed(malformed), "login") else {
      throw CocoaError(.coderReadCorrupt)
    }
    expect(error.code, equals: .peerFailed, "\(error)")
    // The path of the file, and not the descriptor by which it came.
    #expect(error.message.contains("\(malformed.folder.path)/transport is malformed"), "\(error)")
  }

  private func vaultctl(_ sender: Sender, _ words: [String], input: [UInt8] = []) throws -> Int32 {
    let given = try Scratch(input)
    var child = Child(Built.path("vaultctl"), words, environment(sender))
    child.copy(given.descriptor, to: 0)
    child.open(1, "/dev/null", flags: O_WRONLY)
    return try child.start().wait()
  }

  private func environment(_ sender: Sender) -> [String: String] {
    sender.environment.merging(["HOME": sender.folder.path]) { $1 }
  }

  @Test("a script hands over a client certificate that the vault keeps", .requirement("D7"))
  func clientCertificate() throws {
    let sender = try Sender(
      #"{"login":{"method":"GET","path":"/echo","answer":{"client":"client"}}}"#, at: "mutual")
    let pem = try Data(contentsOf: URL(fileURLWithPath: sender.servers.file("client.pem")))
    try expect(vaultctl(sender, ["init", "--no-passcode"]), equals: 0)
    try expect(vaultctl(sender, ["item", "add", "bank-client"], input: Array(pem)), equals: 0)
    let script = sender.folder.path + "/transport"
    try Data(
      """
      #!/bin/sh
      export HOME='\(sender.folder.path)'
      exec '\(Built.path("vaultctl"))' exec --fd 5=bank-client -- '\(Built.path("vault-http"))' \
        --client-certificate-fd 5 '\(sender.path)'
      """.utf8
    ).write(to: URL(fileURLWithPath: script + ".draft"))
    guard
      case .text("client")? = try send(install(script + ".draft", as: script), "login").get()["client"]
    else {
      throw CocoaError(.coderReadCorrupt)
    }
  }

  @Test(
    "Ctrl-C during a request ends vaultctl and vault-http at once, and stores nothing",
    arguments: [SIGINT, SIGTERM])
  func interrupted(signal: Int32) throws {
    let key = "/hang/\(UUID().uuidString)"
    let sender = try Sender(#"{"activationStart":{"method":"POST","path":"\#(key)"}}"#)
    let path = try installed(sender)
    try expect(vaultctl(sender, ["init", "--no-passcode"]), equals: 0)
    let vault = URL(fileURLWithPath: sender.folder.path + "/.local/share/vaultctl/default.vault")
    let before = try Data(contentsOf: vault)
    let code = sender.folder.path + "/code"
    try Data("123456".utf8).write(to: URL(fileURLWithPath: code))
    unsafe chmod(code, 0o600)
    var child = Child(
      Built.path("vaultctl"), ["otp", "activate", "start", "bank", "--code-file", code, "--transport", path],
      environment(sender))
    for number in Int32(0)...2 { child.open(number, "/dev/null", flags: O_RDWR) }
    let running = try child.start()
    try sender.servers.awaitRequest(key)
    #expect(try !processes(of: sender).isEmpty)
    // The server does not answer, and the clock of both stands still: nothing else ends them.
    running.kill(signal)
    #expect(try [130, -signal].contains(running.wait()))
    try waitUntil("the end of vault-http") { try processes(of: sender).isEmpty }
    try expect(Data(contentsOf: vault), equals: before, "something was stored")
  }

  /// The processes of vault-http that were started by the path of this test.
  private func processes(of sender: Sender) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { name in
      guard Int(name) != nil, let words = FileManager.default.contents(atPath: "/proc/\(name)/cmdline") else {
        return false
      }
      return String(decoding: words, as: UTF8.self).hasPrefix(sender.folder.path + "/vault-http")
    }
  }
}
