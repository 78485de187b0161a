import CommandLineKit
import VaultKit
import VaultWords

extension Command {
  /// The error about a name that no item has, with the command for a name that is near it.
  ///
  /// - Parameters:
  ///   - near: Names that a list shows: of what is not in it nothing is said.
  ///   - error: Why the item was not found.
  func missing(_ name: String, near: NearNames, _ error: VaultError) -> CommandError {
    let described = CommandError(describing: error)
    let hint =
      trashHint(for: name) ?? near.question(for: verb)
      ?? family?.listing.map { "'vaultctl \($0)' shows the names" } ?? described.hint
    return CommandError(
      described.exit, "there is no entry \(quoted(name))", hint: hint, code: described.code,
      recovery: described.recovery)
  }
}
