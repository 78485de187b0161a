import DeviceKeys
import VaultFormat

extension InterruptedRestore {
  /// Refuses where something else is in the way: a file of another kind, or the vault from before an earlier restore.
  func refuseTaken() throws(VaultError) {
    let left = try leftovers()
    for case .foreign(let file) in left { throw VaultNames.taken(file) }
    guard try VaultNames.exists(files.aside) else { return }
    for case .old(let file) in left { throw Self.two(files.aside, file: file) }
    throw VaultNames.taken(files.aside)
  }

  /// Completes an interrupted restore.
  ///
  /// - Parameters:
  ///   - lock: The lock on the device keys. While this process holds it, no other restore runs.
  ///   - note: Called with a message about each completed step.
  func settle(_ lock: ProtectorLock?, note: (String) -> Void) throws(VaultError) {
    try refuseTaken()
    let left = try leftovers()
    guard let lock else {
      guard let file = try files.unfinished().first else { return }
      throw VaultNames.taken(file.path)
    }
    defer { lock.keep() }
    try files.debris().forEach(VaultNames.removeDebris)
    for leftover in left {
      switch leftover {
      case .unused(let file):
        VaultNames.remove(vault: file)
        note("removed what an interrupted restore had left beside the vault: \(file)")
      case .old(let file):
        try VaultNames.keep(file, as: files.aside)
        note("an interrupted restore was finished: the old vault is \(files.aside)")
      case .foreign(let file): throw VaultNames.taken(file)
      }
    }
  }

  private static func two(_ aside: String, file: String) -> VaultError {
    VaultError(
      .fileExists, "restores have left two old vaults: \(aside) and \(file)",
      hint: "move one of them away; nothing was written")
  }
}
