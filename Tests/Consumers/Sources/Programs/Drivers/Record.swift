import SecretMemory
import Synchronization

/// What a program did, in order.
final class Record: Sendable {
  private let lines = Mutex<[String]>([])

  var all: [String] { lines.withLock { $0 } }

  func add(_ line: String) { lines.withLock { $0.append(line) } }
}

extension SecretBytes {
  /// A copy as text. A secret of a test is no secret.
  var text: String { expose { $0.text } }
}

extension RawSpan {
  /// A copy as text.
  var text: String { withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
}
