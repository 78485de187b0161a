import CommandLineKit
import VaultKit
import VaultWords

extension InterruptedRestore {
  /// Refuses where something else is in the way: a file of another kind, or the vault from before an earlier restore.
  func refuseTaken() throws {
    let left = try leftovers()
    for case .foreign(let file) in left { throw FilePlace.taken(file) }
    guard try FilePlace.exists(files.aside) else { return }
    for case .old(let file) in left { throw Self.two(files.aside, file: file) }
    throw FilePlace.taken(files.aside)
  }

  /// Completes an interrupted restore.
  ///
  /// - Parameter lock: The lock on the device keys. While this process holds it, no other restore runs.
  /// - Returns: Messages about the completed steps.
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
        notes.append("removed what an interrupted restore had left beside the vault: \(file)")
      case .old(let file):
        try FilePlace.setAside(file, as: files.aside)
        notes.append("an interrupted restore was finished: the old vault is \(files.aside)")
      case .foreign(let file): throw FilePlace.taken(file)
      }
    }
    return notes
  }

  private static func two(_ aside: String, file: String) -> CommandError {
    CommandError(
      .alreadyExists,
      "restores have left two old vaults: \(printable(aside)) and \(printable(file))",
      hint: "move one of them away; nothing was written", code: "fileExists")
  }
}
