import AuthenticatorKit
import Foundation
import Glibc
import TestSupport
import Testing
import TransportPrograms
import VaultKit

@Suite("The transport of the guide", .bounded)
struct TransportGuideTests {
  /// Verified to fail when the program does not send the request, and when it answers with another id.
  @Test("it takes a request to a server, and the answer or the error back")
  func server() throws {
    let server = try BankServer()
    func ask(_ name: String) -> Result<TransportFields, VaultError> {
      var fields = TransportFields()
      fields["peer"] = .text(name)
      let request = TransportRequest(.synchronize, id: String(repeating: "5", count: 32), fields: fields)
      do throws(VaultError) {
        // No limit passes, however busy the machine is.
        let transport = try TransportProgram(
          name == "absent" ? server.absent : server.transport, limits: .init(by: HeldClock().now))
        return .success(try transport.send(request).fields)
      } catch { return .failure(error) }
    }
    guard case .success(let fields) = ask("c-17"), case .text("active")? = fields["state"],
      case .number(12)? = fields["counter"]
    else { throw CocoaError(.coderReadCorrupt) }
    let errors = ["refused", "broken", "absent"].map { name -> VaultError? in
      guard case .failure(let error) = ask(name) else { return nil }
      return error
    }
    expect(errors.map { $0?.code }, equals: [.authenticationFailed, .peerFailed, .network])
    expect(errors[0]?.message, equals: "that code was not sent to this device")
    expect(errors[1]?.message, equals: "the bank answered with status 500 of HTTP")
    expect(errors[2]?.message, equals: "the bank cannot be reached")
  }
}

/// A server on this machine, and the program of the guide on the way to it.
private final class BankServer {
  let transport: String
  /// The same program, for a port that is taken and that nothing listens on.
  let absent: String
  private let folder: URL
  private let process: Child.Running

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("bank-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let output = try PipeEnds()
    process = try Program("/usr/bin/python3", ["-E", "-c", Self.script]).start(output: .writing(output))
    var line = Data()
    while !line.contains(UInt8(ascii: "\n")) {
      let part = output.read()
      try #require(!part.isEmpty, "the bank does not start")
      line += part
    }
    let ports = String(decoding: line, as: UTF8.self).split { !$0.isNumber }
    try #require(ports.count == 2)
    (transport, absent) = (folder.path + "/transport", folder.path + "/absent")
    let blocks = try Readme.blocks("python", of: "docs/guides/transport.md")
    try install(try #require(blocks.first), as: "guide")
    for (name, port) in zip(["transport", "absent"], ports) {
      try install(
        """
        #!/bin/sh
        BANK_URL=http://127.0.0.1:\(port)/ no_proxy=127.0.0.1 exec \(folder.path)/guide
        """, as: name)
    }
  }

  deinit {
    process.end()
    try? FileManager.default.removeItem(at: folder)
  }

  private func install(_ text: String, as name: String) throws {
    let draft = folder.appendingPathComponent(name + ".draft")
    try Data(text.utf8).write(to: draft)
    try Program("/usr/bin/install", ["-m", "700", draft.path, folder.path + "/" + name]).run()
  }

  private static let script = """
    import http.server, json, socket
    class Bank(http.server.BaseHTTPRequestHandler):
        def log_message(self, *words): pass
        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
            answer = {'version': 1, 'id': request['id'], 'state': 'active', 'counter': 12}
            if request['peer'] == 'refused':
                answer = {'version': 1, 'id': request['id'],
                  'error': {'code': 'CODE', 'message': 'that code was not sent to this device'}}
            self.send_response(500 if request['peer'] == 'broken' else 200)
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())
    server = http.server.HTTPServer(('127.0.0.1', 0), Bank)
    taken = socket.socket()
    taken.bind(('127.0.0.1', 0))
    print(server.server_port, taken.getsockname()[1], flush=True)
    server.serve_forever()
    """
}
