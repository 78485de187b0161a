import CommandLineKit
import Glibc
import VaultKit
import VaultWords

/// Operations on names in directories.
enum FilePlace {
  /// Whether anything has that name, including a link.
  ///
  /// - Throws: exit 13 if this cannot be determined: a file that cannot be examined is not absent.
  static func exists(_ path: String) throws(CommandError) -> Bool {
    var entry = stat()
    if unsafe lstat(path, &entry) == 0 { return true }
    guard errno == ENOENT || errno == ENOTDIR else {
      throw .io("looking at \(printable(path))", errno: errno)
    }
    return false
  }

  static func taken(_ path: String) -> CommandError {
    CommandError(
      .alreadyExists, "there is something already: \(printable(path))",
      hint: "name another file, or move that one away; nothing was written", code: "fileExists")
  }

  /// Refuses a name that belongs to another file: programs that use that file would remove or replace what is written.
  ///
  /// - Parameter exists: Whether there is anything at a path: by a host, in the agent.
  /// - Throws: exit 9.
  static func refuseSideFile(
    _ path: String, exists: (String) throws(CommandError) -> Bool = exists
  ) throws(CommandError) {
    if let refusal = try VaultNames.refusal(ofSideFile: path, exists: exists) { throw CommandError(refusal) }
  }

  /// Standard output or standard input, where a verb takes a file or either of them.
  static let standardStream = "-"

  /// The directory of a path.
  static func folder(of path: String) -> String { path.lastIndex(of: "/").map { String(path[...$0]) } ?? "." }

  /// Makes new files and names in the directory of `path` durable.
  static func synchronizeFolder(of path: String) throws(CommandError) {
    let folder = folder(of: path)
    let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .io("opening the folder of \(printable(path))", errno: errno) }
    defer { close(descriptor) }
    // EINVAL: the file system does not synchronize directories.
    guard fsync(descriptor) == 0 || errno == EINVAL else {
      throw .io("writing the folder of \(printable(path))", errno: errno)
    }
  }

  /// A path from the working directory, as one from `/`.
  ///
  /// - Returns: nil where the working directory cannot be named.
  static func absolute(_ path: String) -> String? {
    guard !path.hasPrefix("/") else { return path }
    guard let text = unsafe getcwd(nil, 0) else { return nil }
    defer { unsafe free(text) }
    guard let folder = unsafe String(validatingCString: text) else { return nil }
    return folder + "/" + path
  }
}
