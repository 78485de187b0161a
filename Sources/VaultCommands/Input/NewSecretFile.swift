import CommandLineKit
import SecretMemory
import Synchronization
import VaultKit
import VaultWords

/// A new file with a secret that a commit makes valid. The file is on the disk directly before that commit, and is removed when the
/// commit is not made. The ``Host`` makes it, so that it belongs to the person's process, in the agent too.
final class NewSecretFile: Sendable {
  let path: String
  private let secret: SharedSecret
  /// What the secret is, in messages.
  private let name: String
  private let world: World
  private let isMade = Atomic<Bool>(false)
  private let failure = Mutex<CommandError?>(nil)

  init(_ path: String, secret: consuming SecretBytes, named name: String, in world: World) {
    (self.path, self.secret, self.name, self.world) = (path, SharedSecret(secret), name, world)
  }

  /// Writes the file. Its error is kept for ``failure(else:)``.
  func write() throws(VaultError) {
    do throws(CommandError) {
      try SecretFile.create(path, secret: secret.bytes, named: name, in: world)
      isMade.store(true, ordering: .relaxed)
    } catch {
      failure.withLock { $0 = error }
      throw VaultError(.io, error.message)
    }
  }

  /// The commit was not made: removes the file, unless the commit may have reached the disk.
  ///
  /// - Returns: Why the file could not be written, or else `error`.
  func failure(else error: any Error) -> any Error {
    let isUnconfirmed = CommandError(describing: error).code == VaultError.Code.unconfirmed.rawValue
    if isMade.load(ordering: .relaxed), !isUnconfirmed { world.host.removeFile(path) }
    return failure.withLock { $0 } ?? error
  }

  /// Refuses a path at which there is something, which is never overwritten: a command that was killed may have left it. Asked before a
  /// person types anything.
  ///
  /// - Throws: exit 8, with a name that is free; exit 9 for a name that belongs to another file.
  static func refuseTaken(_ path: String, named name: String, on host: any Host) throws(CommandError) {
    try FilePlace.refuseSideFile(path, exists: host.exists)
    guard try host.exists(path) else { return }
    var error = FilePlace.taken(path)
    error.hint =
      "nothing was written; if a command that was killed has left it, it may hold the \(name) that works now: keep it"
      + (freeName(like: path, on: host).map { ", and name another file, such as \(printable($0))" } ?? "")
    throw error
  }

  private static func freeName(like path: String, on host: any Host) -> String? {
    (2...9).lazy.map { "\(path)-\($0)" }.first { (try? host.exists($0)) == false }
  }
}
