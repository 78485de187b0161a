import CLinux
import Foundation
import Glibc
import TestSupport
import Testing

@Suite("A client certificate over HTTPS", .bounded)
struct ClientCertificateTests {
  /// A file in memory, sealed as `vaultctl exec` does it.
  private final class Memory {
    let descriptor = clinux_memory_file()

    init(_ file: String, isSealed: Bool = true) throws {
      let data = try Data(contentsOf: URL(fileURLWithPath: file))
      let count = unsafe data.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
      expect(count, equals: data.count)
      lseek(descriptor, 0, SEEK_SET)
      if isSealed { expect(clinux_seal(descriptor), equals: 0) }
    }

    deinit { close(descriptor) }
  }

  private func ask(_ name: String?, isSealed: Bool = true) throws -> Sender.Answer {
    let sender = try Sender(
      #"{"go":{"method":"POST","path":"/echo","answer":{"client":"client"}}}"#, at: "mutual")
    guard let name else { return try sender.send() }
    sender.options = ["--client-certificate-fd", "5"]
    let memory = try Memory(sender.servers.file(name), isSealed: isSealed)
    return try sender.send(descriptor: memory.descriptor)
  }

  /// Verified to fail when the certificate between it and the anchor is not sent.
  @Test(
    "a server that asks for one gets it, with its chain, from a sealed file in memory", .requirement("D7"))
  func mutual() throws {
    let answer = try ask("client.pem")
    expect(answer.members["client"] as? String, equals: "client", "\(answer.text)")
  }

  @Test("without one, and with one that the server does not trust, there is no answer", .requirement("D7"))
  func refused() throws {
    try expect(ask(nil).code, equals: "NETWORK")
    try expect(ask("stranger.pem").code, equals: "NETWORK")
  }

  /// Verified to fail when the seals are not looked at.
  @Test("a file that can be changed, a closed descriptor, and what is no key are refused", .requirement("D7"))
  func malformed() throws {
    let open = try ask("client.pem", isSealed: false)
    #expect(open.code == "OTHER" && open.message?.contains("no sealed file in memory") == true)
    let keyless = try ask("anchor.pem")
    #expect(
      keyless.code == "OTHER" && keyless.message?.contains("client certificate") == true, "\(keyless.text)")
    let sender = try Sender(path: "/echo", at: "mutual")
    sender.options = ["--client-certificate-fd", "5"]
    try expect(sender.send().code, equals: "OTHER")
  }
}
