import CommandLineKit
import SecretMemory
import Synchronization

/// The secrets that the options of one run gave. Each descriptor is read once, and its secret serves every command of
/// a batch. A malformed secret stays malformed, so that the rest of a pipe never becomes a secret.
final class GivenSecrets: Sendable {
  private let known = Mutex<[SecretChannel: Result<SharedSecret, CommandError>]>([:])

  /// - Parameter read: Reads the channel; nil if no option gives it.
  func secret(
    _ channel: SecretChannel, _ read: () throws(CommandError) -> SecretBytes?
  ) throws(CommandError) -> SecretBytes? {
    if let known = known.withLock({ $0[channel] }) { return try known.get().copy() }
    let result: Result<SharedSecret, CommandError>
    do throws(CommandError) {
      guard let secret = try read() else { return nil }
      result = .success(SharedSecret(secret))
    } catch { result = .failure(error) }
    known.withLock { $0[channel] = result }
    return try result.get().copy()
  }
}
