import SealedStorage
import VaultFormat

extension VaultError {
  /// - Parameter newer: The parts that a newer version made.
  static func refusal(_ state: String, newer: [DamagedPart]) -> VaultError {
    VaultError(.newerFormat, "\(state): \(named(newer))", hint: .rotateWithNewerVersion)
  }

  /// - Parameter needed: The damaged PINs that items are behind.
  static func refusal(_ state: String, needed: [DamagedPart]) -> VaultError {
    VaultError(
      .damaged, "\(state): \(named(needed))",
      hint:
        "no repair removes a PIN that items are behind: restore the vault from a backup, or remove these items first"
    )
  }

  static func named(_ found: [DamagedPart]) -> String {
    let more = found.count > 3 ? "; and \(found.count - 3) more" : ""
    return found.prefix(3).map(\.words).joined(separator: "; ") + more
  }
}
