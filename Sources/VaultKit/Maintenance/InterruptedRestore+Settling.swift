import DeviceKeys
import VaultFormat

extension InterruptedRestore {
  /// Refuses where something else is in the way: a file of another kind, or the vault from before an earlier restore.
  func refuseTaken() throws(VaultError) {
    let left = try leftovers()
    for case .foreign(let file) in left { throw VaultNames.taken(file) }
    if let file = try files.foreignDebris().first { throw VaultNames.taken(file) }
    guard try VaultNames.exists(files.aside) else { return }
    for case .old(let file) in left { throw Self.two(files.aside, file: file) }
    throw VaultNames.taken(files.aside)
  }

  /// Completes an interrupted restore, or removes the new vault that it has left, with its device key.
  ///
  /// - Parameters:
  ///   - lock: The lock on the device keys. While this process holds it, no other restore runs.
  ///   - keys: Where a restore keeps new device keys; `nil` if no key may be deleted.
  ///   - note: Called with a message about each completed step.
  func settle(_ lock: ProtectorLock?, _ keys: DeviceKeys?, note: (String) -> Void) throws(VaultError) {
    try refuseTaken()
    let left = try leftovers()
    guard let lock else {
      guard let file = try files.unfinished().first else { return }
      throw VaultNames.taken(file.path)
    }
    defer { lock.keep() }
    // The key goes first: what names it, and so tells that it may go, is still there after a crash.
    for file in try files.unnamed() { keys?.deleteUnused(file.key, of: file.path, beside: path) }
    try files.debris().forEach(VaultNames.removeDebris)
    for leftover in left {
      switch leftover {
      case .unused(let file, let key):
        keys?.deleteUnused(key, of: file, beside: path)
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
