import Foundation
import PasswordDerivation
import Testing

/// One case of the files `Tests/Vectors/kdf/rfc9106*.json`.
struct Argon2Vector {
  let parameters: Argon2id.Parameters
  let passcode: [UInt8]
  let salt: [UInt8]
  let secret: [UInt8]
  let associatedData: [UInt8]
  let key: [UInt8]

  /// Every case of every file. No file, or a case that cannot be read, is an error.
  static func all() throws -> [Argon2Vector] {
    let directory = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Vectors/kdf")
    let files = try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
      .filter { $0.lastPathComponent.hasPrefix("rfc9106") }
    try #require(!files.isEmpty, "no vectors in \(directory.path)")
    return try files.flatMap { file in
      try JSONDecoder().decode(File.self, from: Data(contentsOf: file)).tests.map(Argon2Vector.init)
    }
  }

  private init(_ fields: [String: String]) throws {
    func number(_ name: String) throws -> UInt32 { try #require(UInt32(fields[name] ?? ""), "\(name)") }
    func bytes(_ name: String) throws -> [UInt8] {
      let digits = Array((fields[name] ?? "").utf8)
      return try stride(from: 0, to: digits.count, by: 2).map { start in
        let pair = String(decoding: digits[start..<min(start + 2, digits.count)], as: UTF8.self)
        return try #require(UInt8(pair, radix: 16), "\(name) is not hexadecimal")
      }
    }
    parameters = Argon2id.Parameters(
      memoryKiB: try number("memcost"), iterations: try number("iter"), parallelism: try number("lanes"))
    passcode = try bytes("pass")
    salt = try bytes("salt")
    secret = try bytes("secret")
    associatedData = try bytes("ad")
    key = try bytes("output")
    #expect(try number("length") == key.count)
  }

  private struct File: Decodable { let tests: [[String: String]] }
}
