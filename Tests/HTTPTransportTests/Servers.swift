import Foundation
import TestSupport
import Testing

/// The servers of Tests/Peers/https/server.py on this machine. All tests share them; they end with the test process.
final class Servers: @unchecked Sendable {
  static let shared = Result { try Servers() }

  private let ports: [String: Int]
  private let pins: [String: String]
  private let folder: URL
  private let process: Child.Running
  /// The standard input of the servers, which end with it.
  private let input: PipeEnds

  private init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("https-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Peers/https/server.py")
    let output = try PipeEnds()
    input = try PipeEnds()
    process = try Program("/usr/bin/python3", ["-EB", "-W", "ignore", script.path, folder.path])
      .start(input: .reading(input), output: .writing(output), errors: .inherited)
    var line = Data()
    while !line.contains(UInt8(ascii: "\n")) {
      let part = output.read()
      guard !part.isEmpty else { throw CocoaError(.fileReadUnknown) }
      line += part
    }
    let said = try #require(try JSONSerialization.jsonObject(with: line) as? [String: Any])
    ports = try #require(said["ports"] as? [String: Int])
    pins = try #require(said["pins"] as? [String: String])
  }

  func port(_ kind: String) -> Int { ports[kind] ?? 0 }

  func pin(_ name: String) -> String { pins[name] ?? "" }

  func file(_ name: String) -> String { folder.appendingPathComponent(name).path }

  func origin(_ kind: String, host: String = "127.0.0.1") -> String { "https://\(host):\(port(kind))" }

  /// What servers were asked with this text in the path, or at this kind of server.
  func requests(_ text: String) throws -> [[String: Any]] {
    let lines = (try? String(contentsOfFile: file("requests"), encoding: .utf8)) ?? ""
    return try lines.split(separator: "\n").compactMap {
      try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
    }.filter { ($0["path"] as? String)?.contains(text) == true || $0["server"] as? String == text }
  }

  /// Waits until a server was asked with this text in the path.
  func awaitRequest(_ text: String) throws {
    try waitUntil("a request with '\(text)' in its path") { try !requests(text).isEmpty }
  }
}
