import Foundation
import SecretMemory
import Testing

/// Reads vectors from a folder of the package, never from a list: an empty folder is a failure.
enum VectorFiles {
  static let packageRoot = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// Every JSON file in `Tests/Vectors/<folder>` whose name begins with `prefix`.
  static func read<File: Decodable>(_ folder: String, prefix: String = "", as type: File.Type) throws
    -> [File]
  {
    let folder = packageRoot.appending(path: "Tests/Vectors/\(folder)")
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .filter { $0.pathExtension == "json" && $0.lastPathComponent.hasPrefix(prefix) }
    try #require(!files.isEmpty, "no vectors in \(folder.path)")
    return try files.map { try JSONDecoder().decode(type, from: Data(contentsOf: $0)) }
  }

  /// Prints how many cases applied and fails when none did.
  static func report(_ subject: String, applied: Int, of total: Int) {
    print("vectors: \(subject): \(applied) of \(total) applied")
    #expect(applied > 0, "no vector of \(subject) applied")
  }
}

/// Bytes written as hex in a JSON file.
struct Hex: Decodable, Equatable {
  var bytes: [UInt8]

  init(_ text: String) throws {
    let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    try #require(digits.count == text.utf8.count && digits.count.isMultiple(of: 2), "not hex: \(text)")
    bytes = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }

  init(from decoder: any Decoder) throws {
    try self.init(decoder.singleValueContainer().decode(String.self))
  }
}

extension SecretBytes {
  /// A test's secret, which is none.
  init(_ bytes: [UInt8]) { self.init(copying: bytes) }

  var revealed: [UInt8] {
    expose { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0) } }
  }
}
