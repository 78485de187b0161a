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
    return try holding(file, in: place)
  }

  /// Takes the lock that a killed process left; `nil` where there is none, a process holds it, or it cannot be read.
  package static func takeLeft(_ path: String) -> RotationLock? {
    do throws(StorageError) {
      let place = try VaultPath.locate(path)
      guard let file = try FileLock.takeLeft(in: place, suffix: suffix) else { return nil }
      return try holding(file, in: place)
    } catch { return nil }
  }

  private static func holding(
    _ file: Int32, in place: consuming VaultPath
  ) throws(StorageError) -> RotationLock {
    do throws(StorageError) {
      var left = ""
      if let note = try FileLock.note(in: file), note.file == (try place.identity(of: place.name)) {
        left = note.text
      }
      return RotationLock(place: place, file: file, left: left)
    } catch {
      OpenVaultFiles.close(file)
      throw error
    }
  }

  private init(place: consuming VaultPath, file: Int32, left: String) {
    self.place = place
    self.file = file
    self.left = left
  }

  /// Notes the new key. A process that is killed after this leaves the note.
  package func note(_ name: String) throws(StorageError) {
    try FileLock.note(name, about: place.name, in: place, file: file)
  }

  /// Removes the lock with its note. Without this call, the note stays.
  package func finish() { FileLock.remove(in: place, suffix: Self.suffix) }

  deinit { OpenVaultFiles.close(file) }
}
