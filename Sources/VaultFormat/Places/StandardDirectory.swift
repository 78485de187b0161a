import Glibc

/// The directory of vaults, or that of device keys, where nothing names another place (docs/format/vault-file.md, section 3).
///
/// Before the first release it was called `vault`. What is still there is not opened there, and nothing is made in its place in silence.
package struct StandardDirectory: Sendable, Equatable {
  package let path: String

  /// - Parameter path: Ends with ``name``.
  package init(at path: String) { self.path = path }

  /// - Parameters:
  ///   - variable: The variable of the XDG Base Directory Specification for the directory above. A relative value is ignored, as it
  ///     requires.
  ///   - usual: The directory above in `$HOME`, where that variable is not set.
  ///   - value: Looks up an environment variable.
  /// - Returns: nil if neither variable is an absolute path.
  package init?(below variable: String, else usual: String, _ value: (String) -> String?) {
    if let above = value(variable), above.hasPrefix("/") {
      path = above + "/" + Self.name
    } else if let home = value("HOME"), home.hasPrefix("/") {
      path = home + "/" + usual + "/" + Self.name
    } else {
      return nil
    }
  }

  private static let name = "vaultctl"

  /// Its path before the first release.
  private var former: String { String(path.dropLast(Self.name.count)) + "vault" }

  /// Refuses to go on without a file that is missing here and still in the former directory.
  ///
  /// - Parameters:
  ///   - file: Its path in the directory.
  ///   - noun: What the file is.
  package func refuseFormer(
    _ file: String, _ noun: String, code: VaultError.Code
  ) throws(VaultError) {
    let old = former + "/" + file
    guard Self.isMissing(path + "/" + file), Self.isThere(old) else { return }
    throw VaultError(
      code,
      "\(noun) is still at \(old), and this version looks in \(path); move it there: \(moving(file))")
  }

  /// The command that moves a file with all that belongs to it: the whole directory, or as much of it as is missing here. A directory
  /// that is there keeps its files; beside a vault there can be a journal, and beside a key its witness.
  private func moving(_ file: String) -> String {
    var (old, new) = (former, path)
    for part in file.split(separator: "/") {
      if Self.isMissing(new) { return "mv \(Self.typed(old)) \(Self.typed(new))" }
      old += "/" + part
      new += "/" + part
    }
    return "mv \(Self.typed(old))* \(Self.typed(String(new[...(new.lastIndex(of: "/") ?? new.startIndex)])))"
  }

  /// Whether there is no such name. What cannot be looked at may be there.
  private static func isMissing(_ path: String) -> Bool {
    !isThere(path) && (errno == ENOENT || errno == ENOTDIR)
  }

  private static func isThere(_ path: String) -> Bool {
    var entry = stat()
    return unsafe lstat(path, &entry) == 0
  }

  /// A path as a shell takes it.
  private static func typed(_ path: String) -> String {
    if Hint.plainName(path) != nil { return path }
    return "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }
}
