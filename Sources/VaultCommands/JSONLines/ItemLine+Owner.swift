import CommandLineKit
import VaultKit
import VaultWords

extension ItemLine {
  /// What a line must know of the one before it.
  struct Before {
    fileprivate let name: String
    fileprivate let trashedUntil: Instant?
    fileprivate let takesCode: Bool

    init(_ line: ItemLine) {
      (name, trashedUntil) = (line.name, line.item.trashedUntil)
      takesCode = line.item.kind.rules.canBeEntry
    }
  }

  /// Checks that the line before is the entry to which this credential belongs.
  ///
  /// - Parameter before: `nil` for the first line.
  /// - Throws: Exit 12.
  func checkOwner(_ before: Before?) throws(CommandError) {
    guard isOfEntry else { return }
    guard let before, before.takesCode, before.name == name, before.trashedUntil == item.trashedUntil else {
      throw .unreadableLine(
        "\"ofEntry\" is for the one-time code of the entry in the line before, with its \"name\" and \"trashUntil\""
      )
    }
  }
}
