import CommandLineKit
package import VaultKit
import VaultWords

/// Folders of keys with the id of another vault, or of none: an `init` that failed or was killed can leave such a folder.
package enum OtherKeys {
  /// - Parameter vault: The vault whose keys are told of elsewhere; `nil` where none was opened.
  package static func findings(in places: KeyPlaces, besides vault: VaultID?) -> [Finding] {
    // A named key file says nothing about where other vaults have theirs.
    guard places.named == nil, let files = try? places.files() else { return [] }
    do throws(VaultError) {
      return try files.foldersOfKeys().filter { $0.vault != vault && $0.count > 0 }.map { folder in
        let count = folder.count == 1 ? "1 device key" : "\(folder.count) device keys"
        return Finding(
          "otherKeys", .ok, "\(count) of another vault id: \(folder.path)",
          "keep them unless you know that no vault and no backup of one has this id: an 'init' that failed can leave such keys"
        )
      }
    } catch { return [Finding("otherKeys", .warning, error.message, CommandError(error).hint)] }
  }
}
