/// `<vault>.asking-ID`: a process that asks a server about an item, where only one may do so at a time, such as a refresh of tokens. ID
/// is the item in 32 hexadecimal digits.
///
/// The lock is a `flock`, so the kernel ends it with its process, and two threads of one process exclude each other too. The file is
/// empty. It is removed at the end; one that a killed process left is taken and removed by the next one.
package struct ItemLock: ~Copyable {
  static let suffix = ".asking-"
  private let place: VaultPath
  private let file: Int32
  private let ending: String

  /// Takes the lock, and does not wait.
  ///
  /// - Parameter item: The identifier of the item, in 32 hexadecimal digits.
  /// - Returns: `nil` while it is held.
  /// - Throws: ``StorageError/refusedBeside(_:path:)`` for a file of that name that is no such lock.
  package static func take(_ path: String, of item: String) throws(StorageError) -> ItemLock? {
    let place = try VaultPath.locate(path)
    let ending = suffix + item
    guard let file = try FileLock.takeNow(in: place, suffix: ending) else { return nil }
    return ItemLock(place: place, file: file, ending: ending)
  }

  private init(place: consuming VaultPath, file: Int32, ending: String) {
    self.place = place
    self.file = file
    self.ending = ending
  }

  /// Called at the end of the locked work, so that the lock is not released earlier.
  package consuming func release() {}

  // The name goes before the lock: whoever takes the lock of a file without a name makes a new one.
  deinit {
    FileLock.remove(in: place, suffix: ending)
    OpenVaultFiles.close(file)
  }
}
