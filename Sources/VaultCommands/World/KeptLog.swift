import SecretMemory
import Synchronization
import VaultLogging

/// The lines of `--log` of a command in the agent, until they are written. A line comes while the vault's lock is held, and a client
/// that reads nothing must not hold up the others.
final class KeptLog: Sendable {
  private let lines = Mutex<[UInt8]>([])
  private let descriptor: Int32

  init(to descriptor: Int32) { self.descriptor = descriptor }

  var sink: VaultLog.Sink {
    VaultLog.Sink { line in self.lines.withLock { $0 += Array((line.description + "\n").utf8) } }
  }

  /// Writes what there is. Called outside of every transaction.
  func write() {
    let bytes = lines.withLock { lines in
      defer { lines = [] }
      return lines
    }
    _ = unsafe SecretOutput.write(bytes.span.bytes, to: descriptor)
  }
}
