import VaultKit

/// What a restore over a vault leaves beside it when it is interrupted: ``RestoreFiles`` says how the names tell a new vault
/// that never took its place from the old vault that has made way. The next restore removes the one, and gives the other
/// the name that it was to have. No device key is deleted: a copy of what was left may need it.
struct InterruptedRestore {
  /// The vault in its place.
  let path: String
  let vault: VaultID

  var files: RestoreFiles { RestoreFiles(path: path) }

  /// One file that was left.
  enum Leftover: Equatable {
    /// A new vault that never took its place.
    case unused(String)
    /// The vault from before: the new one is in its place.
    case old(String)
    /// Something else, or nobody can tell.
    case foreign(String)
  }

  func leftovers() throws(VaultError) -> [Leftover] {
    let present = try? VaultCore.outline(at: path)
    return try files.unfinished().map { file in
      guard let made = file.key, let outline = try? VaultCore.outline(at: file.path), outline.vault == vault
      else { return .foreign(file.path) }
      guard outline.deviceKey == made else { return .old(file.path) }
      // A copy of the vault in its place would be told by the same key, too.
      return present == nil || present?.deviceKey == made ? .foreign(file.path) : .unused(file.path)
    }
  }

  /// Refuses where something else is in the way: a file of another kind, or the vault from before an earlier restore.
  func refuseTaken() throws {
    let left = try leftovers()
    for case .foreign(let file) in left { throw FilePlace.taken(file) }
    guard try FilePlace.exists(files.aside) else { return }
    for case .old(let file) in left { throw Self.two(files.aside, file) }
    throw FilePlace.taken(files.aside)
  }

  /// Ends what was begun.
  ///
  /// - Parameter lock: The lock on the device keys: whoever holds it knows that no other restore is at work.
  /// - Returns: What was done, for people.
  func settle(_ lock: ProtectorLock?) throws -> [String] {
    try refuseTaken()
    let left = try leftovers()
    guard let lock else {
      guard let file = try files.unfinished().first else { return [] }
      throw FilePlace.taken(file.path)
    }
    defer { lock.keep() }
    try files.debris().forEach(FilePlace.removeDebris)
    var notes: [String] = []
    for leftover in left {
      switch leftover {
      case .unused(let file):
        FilePlace.remove(vault: file)
        notes.append("what an interrupted restore had left beside the vault was removed: \(file)")
      case .old(let file):
        try FilePlace.setAside(file, as: files.aside)
        notes.append("an interrupted restore was finished: the vault from before it is \(files.aside)")
      case .foreign(let file): throw FilePlace.taken(file)
      }
    }
    return notes
  }

  private static func two(_ aside: String, _ file: String) -> CommandError {
    CommandError(
      .alreadyExists,
      "there are two vaults from before a restore: \(printable(aside)) and \(printable(file))",
      hint: "move one of them away; nothing was written", code: "fileExists")
  }
}
