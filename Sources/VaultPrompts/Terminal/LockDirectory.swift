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
  /// - Returns: A descriptor of the directory.
  /// - Throws: ``TerminalError/noLock(_:)`` where this user has no such directory alone.
  static func open() throws(TerminalError) -> Int32 {
    if let folder = hold("/run/user/\(geteuid())") { return folder }
    let path: String
    do throws(VaultError) { path = try FileProtector.standardFolder() } catch {
      throw .noLock("HOME is not set")
    }
    make(path)
    guard let folder = hold(path) else {
      throw .noLock("\(PromptText.visible(path)) is not a directory that you alone can change")
    }
    return folder
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

  private static func make(_ path: String) {
    var folder = ""
    for part in path.split(separator: "/") {
      folder += "/" + part
      _ = unsafe mkdir(folder, 0o700)
    }
  }
}
