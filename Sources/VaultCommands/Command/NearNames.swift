import CommandLineKit
import VaultKit
import VaultWords

/// What a person may have meant by a name that no item has: the items that have it in their names, whatever the case of the
/// letters is, and without any the one with the nearest name.
struct NearNames {
  private let typed: String
  /// Sorted by their names.
  private let items: [Item]
  private let nearest: String?

  /// - Parameter items: Those that may be meant.
  init(to typed: String, among items: [Item]) throws {
    self.typed = typed
    let piece = try FoldedText(typed)
    let found = items.filter { $0.name.map(piece.isIn) ?? false }
    self.items = found.sortedByName()
    nearest = found.isEmpty ? Self.nearest(to: typed, among: items.compactMap(\.name)) : nil
  }

  /// The one item that has the piece in its name.
  var only: Item? { items.count == 1 ? items[0] : nil }

  /// The error that names them; `nil` where there are not several.
  var several: CommandError? {
    guard items.count > 1 else { return nil }
    return CommandError(
      .notFound, "there is no item '\(printable(typed))', and several have that in their names: \(names)",
      hint: "give more of the name", code: "itemNotFound")
  }

  /// The question as a hint, with the command to copy; `nil` where nothing is near.
  ///
  /// - Parameter verb: The words of the verb that the name was given to.
  func question(for verb: String) -> String? {
    if let name = nearest ?? only?.name {
      return "did you mean " + (typable(name).map { "'vaultctl \(verb) \($0)'" } ?? "'\(printable(name))'")
        + "?"
    }
    return items.isEmpty ? nil : "did you mean \(names)?"
  }

  private var names: String {
    let shown = items.prefix(Self.mostNamed).map { "'\(printable($0.name ?? ""))'" }.joined(separator: ", ")
    let left = items.count - Self.mostNamed
    return left > 0 ? "\(shown) and \(left) more" : shown
  }

  /// How many an error names.
  private static let mostNamed = 10

  /// The name that differs in the fewest letters, if these are few.
  private static func nearest(to typed: String, among names: [String]) -> String? {
    let typed = typed.lowercased()
    let most = min(2, typed.utf8.count / 3)
    guard most > 0 else { return nil }
    let near = names.map { ($0, editDistance(from: $0.lowercased(), to: typed)) }.min { $0.1 < $1.1 }
    guard let near, near.1 <= most else { return nil }
    return near.0
  }
}
