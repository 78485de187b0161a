import Glibc

/// `<vault>.rotating`: a process that replaces the device key of a vault holds it. It names the new key from before the key is stored
/// until the vault names it. So the key of a process that was killed in between is known, and nothing needs it.
///
/// A note counts for the file that had the name of the vault when the note was made. A restored or copied vault in its place says nothing
/// about the key.
package struct RotationLock: ~Copyable {
  static let suffix = ".rotating"
  private let place: VaultPath
  private let file: Int32
  /// What a killed process noted about this file; else empty.
  package let left: String

  /// Takes the lock; waits for at most ten seconds.
  ///
  /// - Throws: ``StorageError/refusedBeside(_:path:)`` for a file of that name that is no such lock; ``StorageError/busy``.
  package static func take(_ path: String) throws(StorageError) -> RotationLock {
    let place = try VaultPath.locate(path)
    let file = try FileLock.take(in: place, suffix: suffix)
    let left = noted(in: file, for: place)
    return RotationLock(place: place, file: file, left: left)
  }

  /// Takes the lock that a killed process left; `nil` where there is none, or a process holds it.
  package static func takeLeft(_ path: String) -> RotationLock? {
    do throws(StorageError) {
      let place = try VaultPath.locate(path)
      guard let file = try FileLock.takeLeft(in: place, suffix: suffix) else { return nil }
      let left = noted(in: file, for: place)
      return RotationLock(place: place, file: file, left: left)
    } catch { return nil }
  }

  private init(place: consuming VaultPath, file: Int32, left: String) {
    self.place = place
    self.file = file
    self.left = left
  }

  /// Notes the new key. A process that is killed after this leaves the note.
  package func note(_ name: String) throws(StorageError) {
    guard let identity = try Self.identity(of: place) else { throw .missing }
    try FileLock.note(name + " " + identity, in: file)
  }

  /// Removes the lock with its note. Without this call, the note stays.
  package func finish() { FileLock.remove(in: place, suffix: Self.suffix) }

  deinit { OpenVaultFiles.close(file) }

  private static func noted(in file: Int32, for place: borrowing VaultPath) -> String {
    let words = FileLock.note(in: file).split(separator: " ").map(String.init)
    guard words.count == 3, let identity = try? identity(of: place), words[2] == identity else { return "" }
    return words[0] + " " + words[1]
  }

  /// The file that has the name now, in the form of the identifiers of a note.
  private static func identity(of place: borrowing VaultPath) throws(StorageError) -> String? {
    guard let inode = try place.status(of: place.name)?.inode else { return nil }
    let digits = String(inode, radix: 16)
    return String(repeating: "0", count: 32 - digits.count) + digits
  }
}
