public import AuthenticatorKit
import Foundation
import Glibc
import SecretMemory
import TestSupport
import Testing
import TransportPrograms
import VaultKit

/// A transport that a test writes, in Python or as a shell script.
final class PeerProgram {
  let folder: URL
  let path: String
  /// The program waits at it where it says `hold()`.
  let pipe: NamedPipe

  /// - Parameter script: Runs with the `request` at hand, and with `answer`, `say`, `text`, `note` and `hold`.
  convenience init(_ script: String, reading: Bool = true) throws {
    try self.init(lines: Self.beginning + (reading ? "request = read()\n" : "") + script + "\n")
  }

  convenience init(shell script: String) throws { try self.init(lines: "#!/bin/sh\n" + script + "\n") }

  /// A program that answers with these bytes; `ID` becomes the id of the request.
  convenience init(answering text: String) throws {
    try self.init(
      """
      import base64
      say(base64.b64decode('\(Data(text.utf8).base64EncodedString())').replace(b'ID', request['id'].encode()))
      """)
  }

  init(lines: String) throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("transport-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    pipe = try NamedPipe(folder.path + "/pipe")
    path = folder.path + "/transport"
    try install(lines, as: path)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// Another process makes the program: a child that another test starts meanwhile would hold a file of ours open for
  /// writing, and such a file cannot be run.
  func install(_ lines: String, as path: String, mode: String = "700") throws {
    let draft = path + ".draft"
    try Data(lines.replacing("FOLDER", with: folder.path).utf8).write(to: URL(fileURLWithPath: draft))
    try Program("/usr/bin/install", ["-m", mode, draft, path]).run()
  }

  /// Sends a request. Without a clock that a test moves no limit passes: the result does not depend on how busy the machine is.
  @discardableResult
  func send(
    _ fields: TransportFields = TransportFields(), id: String = PeerProgram.id,
    by clock: HeldClock = HeldClock()
  ) throws -> TransportFields {
    let transport = try TransportProgram(path, limits: .init(time: .seconds(2), by: clock.now))
    return try transport.send(TransportRequest(.synchronize, id: id, fields: fields)).fields
  }

  /// The error of a request that fails.
  func failure(
    _ fields: TransportFields = TransportFields(), by clock: HeldClock = HeldClock()
  ) -> VaultError? {
    do { try send(fields, by: clock) } catch { return error as? VaultError }
    return nil
  }

  /// The error of a request to a program that hangs, two seconds after it has noted something, and not before.
  func failureOfHanging(_ fields: TransportFields = TransportFields(), after name: String) throws
    -> VaultError
  {
    let (clock, results) = (HeldClock(), Results())
    results.start(
      "hanging", nil, try TransportProgram(path, limits: .init(time: .seconds(2), by: clock.now)), fields)
    _ = try awaitNote(name)
    try clock.pass(.milliseconds(1999))
    try clock.awaitReadings()
    expect(results["hanging"], equals: nil)
    clock.advance(by: .milliseconds(1))
    _ = try results.await("hanging")
    return try #require(results.error)
  }

  /// What the program noted under a name.
  func note(_ name: String) throws -> String {
    try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
  }

  /// Waits until the program has noted something.
  func awaitNote(_ name: String) throws -> String {
    try waitUntil("the note '\(name)' of \(path)") { (try? note(name)) != nil }
    return String(try note(name).dropLast())
  }

  /// The number that a process noted.
  func process(_ name: String) throws -> pid_t {
    let text = try awaitNote(name)
    return try #require(pid_t(text))
  }

  /// Waits until the process whose number was noted has ended, and was waited for if it is a child of ours.
  func awaitEnd(_ name: String) throws {
    let pid = try process(name)
    try waitUntil("the end of the process '\(name)'") { hasEnded(pid) && !isChild(pid) }
  }

  private func isChild(_ pid: pid_t) -> Bool {
    let status = try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
    return status?.contains("PPid:\t\(getpid())\n") ?? false
  }

  static let id = "5b1f0c0dd00dfeed5b1f0c0dd00dfeed"

  private static let beginning = """
    #!/usr/bin/python3 -SE
    import fcntl, json, os, signal, sys, time
    def note(name, text):
        part = 'FOLDER/%s.%d' % (name, os.getpid())
        with open(part, 'w') as file: file.write(str(text) + '\\n')
        os.rename(part, 'FOLDER/' + name)
    def hold():
        open('FOLDER/pipe').close()
    def hang():
        while True: time.sleep(600)
    def read():
        return json.loads(sys.stdin.buffer.read())
    def text(**members):
        return json.dumps(dict({'version': 1, 'id': request['id']}, **members))
    def say(data):
        data = data.encode() if isinstance(data, str) else data
        while data: data = data[os.write(1, data):]
    def answer(**members):
        say(text(**members) + '\\n')
    note('pid', os.getpid())

    """
}

extension TransportFields: ExpressibleByDictionaryLiteral {
  /// The members of a literal.
  public init(dictionaryLiteral elements: (String, TransportValue)...) {
    self.init()
    for (name, value) in elements { self[name] = value }
  }

  /// A text, or another value as a word.
  func word(_ name: String) -> String? {
    switch self[name] {
    case .text(let text): text
    case .number(let number): "\(number)"
    case .flag(let flag): "\(flag)"
    case .texts(let texts): texts.joined(separator: "|")
    case .secret: "secret"
    case .fields(let fields): "{\(fields.all.map(\.name).joined(separator: ","))}"
    case .other: "other"
    case nil: nil
    }
  }
}
