import CLinux
import Glibc
import VaultKit

/// The directory for the locks of terminals: one for all vaults of a user.
///
/// `/run/user/UID` where it exists, whatever the environment says, so that programs with different environments
/// share it. Otherwise the state directory. Never `/tmp`, where another user could hold the lock.
enum LockDirectory {
  /// Opens the directory, and makes it where it is missing.
  ///
  /// - Returns: A descriptor of the directory, and whether files of locks may be in it. They may not be in a directory above the state
  ///   directory, which serves where the disk is full and the state directory cannot be made.
  /// - Throws: ``TerminalError/noLock(_:)`` where this user has no such directory alone.
  static func open() throws(TerminalError) -> (folder: Int32, takesFiles: Bool) {
    if let folder = hold("/run/user/\(geteuid())") { return (folder, true) }
    let path: String
    do throws(VaultError) { path = try FileProtector.standardDirectory().path } catch {
      throw .noLock("HOME is not set")
    }
    let problem = make(path)
    if let folder = hold(path) { return (folder, true) }
    if TerminalLock.isLackOfRoom(problem), let folder = nearest(above: path) { return (folder, false) }
    throw .noLock("\(PromptText.visible(path)) is not a directory that you alone can change")
  }

  /// The nearest directory above a path that exists; nil if it is not of this user alone.
  private static func nearest(above path: String) -> Int32? {
    var path = path
    while let slash = path.lastIndex(of: "/"), slash > path.startIndex {
      path = String(path[..<slash])
      if let folder = hold(path) { return folder }
      guard unsafe access(path, F_OK) != 0, errno == ENOENT else { return nil }
    }
    return nil
  }

  /// Nil for a directory that another user owns or can write to, for a link, and for a missing one.
  private static func hold(_ path: String) -> Int32? {
    let folder = unsafe clinux_hold_folder(path)
    guard folder >= 0 else { return nil }
    var about = stat()
    guard unsafe fstat(folder, &about) == 0, about.st_uid == geteuid(), about.st_mode & 0o022 == 0 else {
      close(folder)
      return nil
    }
    return folder
  }

  /// - Returns: The `errno` of a directory for which there is no room; otherwise 0.
  private static func make(_ path: String) -> Int32 {
    var folder = ""
    for part in path.split(separator: "/") {
      folder += "/" + part
      guard unsafe mkdir(folder, 0o700) != 0 else { continue }
      if TerminalLock.isLackOfRoom(errno) { return errno }
    }
    return 0
  }
}
