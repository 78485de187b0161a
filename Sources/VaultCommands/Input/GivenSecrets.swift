import CommandLineKit
import SecretMemory
import Synchronization

/// The secrets that the options of one run gave. Each descriptor is read once, and its secret serves every command of
/// a batch. A malformed secret stays malformed, so that the rest of a pipe never becomes a secret.
final class GivenSecrets: Sendable {
  /// What a channel gave.
  private enum Given {
    case secret(SharedSecret)
    case error(CommandError)

    func copy() throws(CommandError) -> SecretBytes {
      switch self {
      case .secret(let secret): return secret.copy()
      case .error(let error): throw error
      }
    }
  }

  private let known = Mutex<[(channel: SecretChannel, given: Given)]>([])

  /// The files among them that every user of the system can read, and that were not told yet.
  private let exposed = Mutex<[String]>([])

  func addExposed(_ file: String) { exposed.withLock { $0.append(file) } }

  func takeExposed() -> [String] {
    exposed.withLock { files in
      defer { files = [] }
      return files
    }
  }

  /// - Parameter read: Reads the channel; nil if no option gives it.
  func secret(
    _ channel: SecretChannel, _ read: () throws(CommandError) -> SecretBytes?
  ) throws(CommandError) -> SecretBytes? {
    if let known = known.withLock({ $0.first { $0.channel == channel } }) { return try known.given.copy() }
    let given: Given
    do throws(CommandError) {
      guard let secret = try read() else { return nil }
      given = .secret(SharedSecret(secret))
    } catch { given = .error(error) }
    known.withLock { $0.append((channel, given)) }
    return try given.copy()
  }
}
