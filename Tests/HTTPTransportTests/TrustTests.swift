import Foundation
import Glibc
import TestSupport
import Testing

/// Whom vault-http trusts. Each server is the same but for its certificate.
@Suite("Trust in a server over HTTPS", .bounded)
struct TrustTests {
  private func ask(
    _ kind: String, host: String = "127.0.0.1", _ members: [String: Any] = [:], options: [String] = []
  ) throws -> Sender.Answer {
    let sender = try Sender(path: "/echo", at: kind, host: host, members)
    sender.options = options
    return try sender.send()
  }

  private func expectRefusal(_ answer: Sender.Answer, _ words: String) {
    #expect(answer.exit == 0 && answer.code == "NETWORK", "\(answer.text)")
    #expect(answer.message?.contains(words) == true, "\(answer.text)")
    #expect(answer.isUnsent, "\(answer.text)")
  }

  @Test("a certificate from the anchor, valid and for the host, is trusted", .requirement("D7"))
  func good() throws {
    try expect(ask("good").members["path"] as? String, equals: "/echo")
    try expect(ask("good", host: "localhost").members["path"] as? String, equals: "/echo")
  }

  /// Verified to fail when host names are not compared.
  @Test("a certificate for another host, or not valid now, is not", .requirement("D7"))
  func certificates() throws {
    let path = "/echo/\(UUID().uuidString)"
    for (kind, words) in [
      ("elsewhere", "is for another host"), ("expired", "has expired"), ("future", "is not valid yet"),
    ] {
      for host in ["127.0.0.1", "localhost"] {
        expectRefusal(try Sender(path: path, at: kind, host: host).send(), words)
      }
    }
    #expect(try Servers.shared.get().requests(path).isEmpty, "a request was sent")
  }

  /// Verified to fail when each has the words of a chain without an anchor.
  @Test(
    "a certificate that is not for servers, or is too weak, is named as that", .requirement("D7"),
    arguments: [("client", "is not for servers"), ("weak", "too weak"), ("sha1", "too weak")])
  func unsuitable(kind: String, words: String) throws { expectRefusal(try ask(kind), words) }

  /// Verified to fail when only libcurl compares the name.
  @Test(
    "the subject of a certificate names no host", .requirement("D7"), arguments: ["nameless", "numbered"])
  func subjectAlone(kind: String) throws {
    let path = "/echo/\(UUID().uuidString)"
    for host in ["127.0.0.1", "localhost"] {
      expectRefusal(try Sender(path: path, at: kind, host: host).send(), "is for another host")
    }
    #expect(try Servers.shared.get().requests(path).isEmpty, "a request was sent")
  }

  @Test("only the certificates of the anchor file are trusted", .requirement("D7"))
  func anchors() throws {
    let servers = try Servers.shared.get()
    expectRefusal(try ask("untrusted"), "no trusted anchor")
    let other = servers.file("other.pem")
    try expect(ask("untrusted", ["anchors": other]).members["path"] as? String, equals: "/echo")
    expectRefusal(try ask("good", ["anchors": other]), "no trusted anchor")
    expectRefusal(try ask("good", ["anchors": NSNull()]), "no trusted anchor")
  }

  /// Verified to fail when the directory of the system stays the default of libcurl.
  @Test("with an anchor file, the certificates of the system are not looked at", .requirement("D7"))
  func systemAnchors() throws {
    // The process cannot be dumped, so only root sees which files it opens.
    try needRoot("anchors of the system")
    try Shell.need("strace")
    let sender = try Sender(path: "/echo", at: "untrusted")
    let trace = sender.folder.path + "/trace"
    let request = sender.folder.appendingPathComponent("request")
    try Data(Sender.line("go")).write(to: request)
    let words = [
      "-f", "-e", "trace=openat,open,stat,newfstatat", "-o", trace, Built.path("vault-http"), sender.path,
    ]
    let run = try Program("strace", words).run(input: FileHandle(forReadingFrom: request))
    #expect(run.text.contains("no trusted anchor"), "\(run.text)")
    let calls = try String(contentsOfFile: trace, encoding: .utf8)
    #expect(calls.contains("anchor.pem") && !calls.contains("/etc/ssl/certs"), "\(calls.suffix(2000))")
  }

  /// Verified to fail when a pin is compared with the hash of the certificate in place of that of its key.
  @Test(
    "a pin is the hash of the key: a renewed certificate keeps it, and the hash of the certificate is none",
    .requirement("D7"))
  func pins() throws {
    let servers = try Servers.shared.get()
    func pinned(_ kind: String, _ names: String...) throws -> Sender.Answer {
      try ask(kind, ["pins": ["127.0.0.1": names.map(servers.pin)]])
    }
    for kind in ["good", "renewed"] {
      try expect(pinned(kind, "server").members["path"] as? String, equals: "/echo")
      try expect(pinned(kind, "second", "server").members["path"] as? String, equals: "/echo")
    }
    try expect(pinned("second", "second").members["path"] as? String, equals: "/echo")
    expectRefusal(try pinned("good", "certificate"), "none of its pins")
    expectRefusal(try pinned("good", "second"), "none of its pins")
    expectRefusal(try pinned("second", "server"), "none of its pins")
    // The certificate must be good as well.
    expectRefusal(try pinned("untrusted", "server"), "no trusted anchor")
    expectRefusal(try pinned("expired", "server"), "has expired")
    expectRefusal(try pinned("elsewhere", "server"), "is for another host")
  }

  /// Verified to fail when all pins count for each host.
  @Test("a pin counts for its host name alone", .requirement("D7"))
  func pinsPerHost() throws {
    let servers = try Servers.shared.get()
    let origins = [servers.origin("good"), servers.origin("good", host: "LocalHost")]
    let pins = ["127.0.0.1": [servers.pin("second")], "localhost": [servers.pin("server")]]
    let members: [String: Any] = ["origins": origins, "pins": pins]
    expectRefusal(try ask("good", members), "none of its pins")
    let turned = members.merging(["origins": Array(origins.reversed())]) { $1 }
    try expect(ask("good", turned).members["path"] as? String, equals: "/echo")
    // A host without pins is not pinned, and a pin for a host that is not there is an error.
    try expect(
      ask("good", members.merging(["pins": ["localhost": [servers.pin("second")]]]) { $1 })
        .members["path"] as? String, equals: "/echo")
    let misspelled = try ask("good", ["pins": ["127.0.0.11": [servers.pin("server")]]])
    #expect(misspelled.code == "OTHER" && misspelled.message?.contains("no host of 'origins'") == true)
  }

  /// Verified to fail when the option is enough without a pin.
  @Test("host names are compared unless an option and a pin say otherwise", .requirement("D7"))
  func hostCheck() throws {
    let servers = try Servers.shared.get()
    let pins: [String: Any] = ["pins": ["127.0.0.1": [servers.pin("server")]]]
    let free = try ask("elsewhere", pins, options: ["--no-host-check"])
    expect(free.members["path"] as? String, equals: "/echo", "\(free.text)")
    let unpinned = try ask("elsewhere", options: ["--no-host-check"])
    #expect(unpinned.code == "OTHER" && unpinned.message?.contains("has none") == true)
    var two = pins
    two["origins"] = [servers.origin("elsewhere"), "https://bank.example"]
    try expect(ask("elsewhere", two, options: ["--no-host-check"]).code, equals: "OTHER")
    let wrong: [String: Any] = ["pins": ["127.0.0.1": [servers.pin("second")]]]
    expectRefusal(try ask("elsewhere", wrong, options: ["--no-host-check"]), "none of its pins")
    expectRefusal(try ask("untrusted", pins, options: ["--no-host-check"]), "no trusted anchor")
  }

  /// Verified to fail when libcurl may use TLS 1.1 with a lower security level.
  @Test("TLS 1.1 is too old", .requirement("D7"))
  func oldVersion() throws {
    expectRefusal(try ask("old"), "agree on no TLS connection")
  }

  /// Verified to fail when the variable stays in the environment.
  @Test("keys of a connection are not written, whatever the environment says")
  func keyLog() throws {
    let sender = try Sender(path: "/echo")
    let log = sender.folder.path + "/keys"
    sender.environment["SSLKEYLOGFILE"] = log
    try expect(sender.send().members["path"] as? String, equals: "/echo")
    #expect(!FileManager.default.fileExists(atPath: log))
  }

  /// Verified to fail when the variables stay in the environment.
  @Test("no variable loads another configuration of OpenSSL, other anchors or a password", .requirement("D7"))
  func environment() throws {
    let sender = try Sender(
      #"{"go":{"method":"GET","path":"/echo","answer":{"path":"path","login":"headers.authorization"}}}"#)
    // By this configuration, OpenSSL has no cipher at all.
    let file = sender.folder.path + "/openssl.cnf"
    try Data("openssl_conf = a\n[a]\nproviders = b\n[b]\nnull = c\n[c]\nactivate = 1\n".utf8)
      .write(to: URL(fileURLWithPath: file))
    try Data("machine 127.0.0.1 login user password word\n".utf8)
      .write(to: URL(fileURLWithPath: sender.folder.path + "/.netrc"))
    sender.environment["OPENSSL_CONF"] = file
    sender.environment["OPENSSL_MODULES"] = sender.folder.path
    sender.environment["HOME"] = sender.folder.path
    let answer = try sender.send()
    expect(answer.members["path"] as? String, equals: "/echo", "\(answer.text)")
    #expect(answer.members["login"] == nil)

    let anchor = sender.servers.file("anchor.pem")
    let system = try Sender(path: "/echo", ["anchors": NSNull()])
    for name in ["SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE"] { system.environment[name] = anchor }
    expectRefusal(try system.send(), "no trusted anchor")
  }

  /// Verified to fail when libcurl is not told that there is no proxy, and when `no_proxy` counts beside a proxy of the
  /// configuration.
  @Test("a proxy is used where the configuration says so, and only there")
  func proxy() throws {
    let servers = try Servers.shared.get()
    let address = "http://127.0.0.1:\(servers.port("proxy"))"
    func asked(_ members: [String: Any], _ environment: [String: String] = [:]) throws -> Int {
      let before = try servers.requests("proxy").count
      let sender = try Sender(path: "/echo", members)
      sender.environment.merge(environment) { $1 }
      try expect(sender.send().members["path"] as? String, equals: "/echo")
      return try servers.requests("proxy").count - before
    }
    try expect(asked(["proxy": address]), equals: 1)
    try expect(asked(["proxy": address], ["no_proxy": "*", "NO_PROXY": "127.0.0.1"]), equals: 1)
    let variable = ["https_proxy": address, "HTTPS_PROXY": address, "ALL_PROXY": address]
    try expect(asked([:], variable), equals: 0)
    try expect(asked(["proxy": "environment"], variable), equals: 1)
    try expect(asked(["proxy": "environment"], variable.merging(["no_proxy": "127.0.0.1"]) { $1 }), equals: 0)
    // Its refusal is no answer of the server.
    let refused = try Sender(path: "/echo", at: "closed", ["proxy": address]).send()
    #expect(refused.code == "NETWORK" && refused.message == "the proxy answered with status 502 of HTTP")
    // Verified to fail when the end of a connection is always the server's.
    let gone = try Sender(path: "/echo", ["proxy": "http://127.0.0.1:\(servers.port("leaving"))"]).send()
    #expect(gone.code == "NETWORK" && gone.message == "the proxy closed the connection to 127.0.0.1")
  }
}
