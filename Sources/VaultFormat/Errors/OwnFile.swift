import Glibc

/// Checks a file before a hint advises changing its mode. A mistyped path can lead to a file of the system, and
/// `chmod 600 /etc/passwd` locks all users out.
///
/// A file or directory is ours if it belongs to this user, has no second name, and is below one of ``folders`` after
/// all links are followed.
package enum OwnFile {
  /// This user's home and the directories of the XDG specification, as the environment names them.
  package static var folders: [String] {
    ["HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"].compactMap { name in
      guard let value = unsafe getenv(name) else { return nil }
      return unsafe String(cString: value)
    }
  }

  /// Whether a hint may advise changing the mode of the file or directory.
  package static func isOurs(_ path: String, below folders: [String] = Self.folders) -> Bool {
    var entry = stat()
    guard unsafe lstat(path, &entry) == 0, entry.st_uid == geteuid(), let path = resolved(path) else {
      return false
    }
    let isFolder = entry.st_mode & S_IFMT == S_IFDIR
    guard isFolder || entry.st_mode & S_IFMT == S_IFREG && entry.st_nlink == 1 else { return false }
    return folders.contains { folder in
      guard folder.hasPrefix("/"), let folder = resolved(folder), folder != "/" else { return false }
      return belongsToUs(folder) && path.hasPrefix(folder + "/")
    }
  }

  private static func belongsToUs(_ folder: String) -> Bool {
    var entry = stat()
    return unsafe lstat(folder, &entry) == 0 && entry.st_uid == geteuid()
  }

  private static func resolved(_ path: String) -> String? {
    guard let text = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(text) }
    return unsafe String(validatingCString: text)
  }
}
