import AgentMessages
import CommandLineKit
import Glibc
import VaultWords

/// The files of a vault: its own, and those beside it that SQLite makes.
///
/// A process that closes a descriptor of one loses its locks on that file. So no descriptor of one is passed to the agent.
struct VaultFiles {
  private let files: Set<AgentRun.Vault.Identity>

  init(at path: String) {
    let places = [path] + [Self.resolved(path)].compactMap(\.self)
    files = Set(
      places.flatMap { [$0, $0 + "-wal", $0 + "-shm"] }.compactMap { Self.identity(ofPath: $0) })
  }

  func contains(_ descriptor: Int32) -> Bool {
    var about = stat()
    return unsafe fstat(descriptor, &about) == 0 && files.contains(Self.identity(about))
  }

  /// Which file a path leads to; nil if to none.
  static func identity(ofPath path: String) -> AgentRun.Vault.Identity? {
    var about = stat()
    return unsafe stat(path, &about) == 0 ? identity(about) : nil
  }

  private static func identity(_ about: stat) -> AgentRun.Vault.Identity {
    AgentRun.Vault.Identity(device: UInt64(about.st_dev), inode: UInt64(about.st_ino))
  }

  private static func resolved(_ path: String) -> String? {
    guard let text = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(text) }
    return unsafe String(validatingCString: text)
  }

  /// - Parameter what: What is such a descriptor.
  static func refusal(_ what: String) -> CommandError {
    CommandError(
      .refused, "\(what) is the vault's own file, which the agent has open",
      hint: "name another file; nothing was done", code: "vaultAsInput")
  }
}
