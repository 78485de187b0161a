import Foundation
import SecretMemory
import Synchronization
import VaultKit

/// A directory for one vault and its device key, removed with this value.
final class Scene: Sendable {
  let directory = FileManager.default.temporaryDirectory.appendingPathComponent("guide-\(UUID().uuidString)")
    .path

  var path: VaultPath { VaultPath(directory + "/data/guide.vault") }
  var protector: FileProtector { FileProtector(folder: directory + "/keys") }

  func make(passcode: consuming Passcode? = nil) async throws -> Vault {
    try await Vault.create(at: path, protector: protector, passcode: passcode)
  }

  /// Seconds since 1970.
  static var now: Int64 { Int64(Date().timeIntervalSince1970) }

  func open() async throws -> Vault { try await Vault.open(at: path, protector: protector) }

  deinit { try? FileManager.default.removeItem(atPath: directory) }
}

/// What a program did, in order.
final class Record: Sendable {
  private let lines = Mutex<[String]>([])

  var all: [String] { lines.withLock { $0 } }

  func add(_ line: String) { lines.withLock { $0.append(line) } }
}

extension SecretBytes {
  /// The bytes of a text that is no secret.
  init(_ text: String) {
    self.init(capacity: text.utf8.count) { bytes in
      for byte in text.utf8 { bytes.append(byte) }
    }
  }

  /// A copy as text.
  var text: String { expose { $0.text } }
}

extension RawSpan {
  /// A copy as text.
  var text: String { withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
}
