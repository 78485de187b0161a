import CLinux
import Glibc
import VaultKit

/// Where the locks of terminals are: one folder for all vaults of a user.
///
/// `/run/user/UID` where it exists, whatever the environment says, so that programs with different environments meet;
/// else the state folder. Never `/tmp`, where another user could hold the lock.
enum LockFolder {
  /// Opens the folder, made where there is none.
  ///
  /// - Returns: A descriptor to look into it.
  /// - Throws: ``TerminalError/noLock(_:)`` where there is no folder of this user's own.
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

  /// Nil for a folder that another user owns or can write to, for a link, and where there is none.
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
