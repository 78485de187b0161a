package import VaultFormat
import Glibc

extension Protector {
  /// Refuses a key file in the vault's directory, because every backup and synchronization of the directory would copy
  /// the key too.
  package func refuseFolder(of vaultPath: String, key: DeviceKeyID, vault: VaultID) throws(VaultError) {
    guard let files = self as? FileProtector else { return }
    let vaultFolder = try Self.resolvedFolder(of: vaultPath)
    let key = files.path(of: key, vault)
    // Key files are in a directory for their vault. That directory must not be beside the vault either.
    let parents =
      files.isFolder ? [key, String(key.dropLast(key.split(separator: "/").last!.count + 1))] : [key]
    var isBeside = false
    for parent in parents where try Self.resolvedFolder(of: parent) == vaultFolder { isBeside = true }
    guard isBeside else { return }
    throw VaultError(
      .policy, "the device key must not lie in the vault's folder: whoever copies the vault gets the key",
      hint: .nameOtherKeyFolder)
  }

  /// The directory of a path with its links resolved, even if its last parts do not exist yet.
  private static func resolvedFolder(of path: String) throws(VaultError) -> String {
    var parts = (path.hasPrefix("/") ? path : currentFolder() + "/" + path).split(separator: "/").map(
      String.init)
    var missing: [String] = []
    if !parts.isEmpty { parts.removeLast() }
    while !parts.isEmpty {
      if let real = try resolved("/" + parts.joined(separator: "/")) {
        return ([real] + missing.reversed()).joined(separator: "/")
      }
      missing.append(parts.removeLast())
    }
    return ([""] + missing.reversed()).joined(separator: "/")
  }

  /// `nil` if nothing is there.
  private static func resolved(_ path: String) throws(VaultError) -> String? {
    guard let real = unsafe realpath(path, nil) else {
      guard errno == ENOENT || errno == ENOTDIR else { throw FileProtector.failure("look at", path: path) }
      return nil
    }
    defer { unsafe free(real) }
    return unsafe String(cString: real)
  }

  private static func currentFolder() -> String {
    guard let folder = unsafe getcwd(nil, 0) else { return "" }
    defer { unsafe free(folder) }
    return unsafe String(cString: folder)
  }
}
