import Foundation
import TestSupport
import Testing

/// `vault-http` with a configuration, and requests to it.
final class Sender {
  let servers: Servers
  let folder: URL
  let path: String
  var options: [String] = []
  var environment: [String: String] = ["PATH": "/usr/bin:/bin"]
  /// No limit of `vault-http` passes unless a test moves it.
  let clock = HeldClock()

  /// - Parameters:
  ///   - operations: The mapping, as JSON.
  ///   - members: Further members of the configuration.
  init(
    _ operations: String, at kind: String = "good", host: String = "127.0.0.1", _ members: [String: Any] = [:]
  ) throws {
    servers = try Servers.shared.get()
    var all: [String: Any] = [
      "version": 1, "origins": [servers.origin(kind, host: host)], "anchors": servers.file("anchor.pem"),
      "operations": 0, "seconds": 58,
    ]
    for (name, value) in members { all[name] = value is NSNull ? nil : value }
    let text = String(
      decoding: try JSONSerialization.data(withJSONObject: all, options: .prettyPrinted), as: UTF8.self)
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("sender-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    path = folder.path + "/bank.json"
    environment.merge(try clock.variables()) { $1 }
    // In the order in which the test has it.
    try write(Data(text.replacing(#""operations" : 0"#, with: #""operations" : \#(operations)"#).utf8))
  }

  /// An operation `go` that gets a path.
  convenience init(
    path: String, at kind: String = "good", host: String = "127.0.0.1", method: String = "GET",
    _ members: [String: Any] = [:]
  ) throws {
    try self.init(
      #"{"go":{"method":"\#(method)","path":"\#(path)","answer":{"path":"path"}}}"#, at: kind, host: host,
      members)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func write(_ text: Data, mode: Int = 0o600) throws {
    try text.write(to: URL(fileURLWithPath: path))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
  }

  static let id = "5b1f0c0dd00dfeed5b1f0c0dd00dfeed"

  static func line(_ operation: String, _ members: [String: Any] = [:]) throws -> [UInt8] {
    var all: [String: Any] = ["version": 1, "id": id, "operation": operation]
    for (name, value) in members { all[name] = value }
    return Array(try JSONSerialization.data(withJSONObject: all, options: .sortedKeys)) + [UInt8(ascii: "\n")]
  }

  struct Answer {
    let exit: Int32
    let text: String
    let errors: String

    var members: [String: Any] {
      (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any] ?? [:]
    }
    var error: [String: Any] { members["error"] as? [String: Any] ?? [:] }
    var code: String? { error["code"] as? String }
    var message: String? { error["message"] as? String }
    var isUnsent: Bool { error["unsent"] as? Bool == true }
  }

  /// - Parameter descriptor: Handed over as descriptor 5.
  @discardableResult
  func send(
    _ operation: String = "go", _ members: [String: Any] = [:], descriptor: Int32? = nil
  ) throws -> Answer {
    try run(Self.line(operation, members), words: options + [path], descriptor: descriptor)
  }

  func run(_ input: [UInt8], words: [String], descriptor: Int32? = nil) throws -> Answer {
    try start(input, words: words, descriptor: descriptor).end()
  }

  /// Starts an operation `go` without waiting for its end.
  func start() throws -> Started { try start(Self.line("go"), words: options + [path]) }

  private func start(_ input: [UInt8], words: [String], descriptor: Int32? = nil) throws -> Started {
    let (given, output, errors) = (try Scratch(input), try Scratch(), try Scratch())
    var child = Child(Built.path("vault-http"), words, environment)
    child.copy(given.descriptor, to: 0)
    child.copy(output.descriptor, to: 1)
    child.copy(errors.descriptor, to: 2)
    if let descriptor { child.copy(descriptor, to: 5) }
    return Started(process: try child.start(), output: output, errors: errors)
  }

  struct Started {
    let process: Child.Running
    fileprivate let output: Scratch
    fileprivate let errors: Scratch

    func end() throws -> Answer {
      let exit = try process.wait()
      return Answer(
        exit: exit, text: String(decoding: output.content, as: UTF8.self),
        errors: String(decoding: errors.content, as: UTF8.self))
    }
  }
}
