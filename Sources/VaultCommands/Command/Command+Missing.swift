import CommandLineKit
import VaultKit
import VaultWords

extension Command {
  /// The error about a name that no item has, with the command for a name that is near it.
  ///
  /// The names are those that a list shows: of what is not in it nothing is said.
  ///
  /// - Parameter error: Why the item was not found.
  func missing(_ name: String, in core: VaultCore, _ error: VaultError) -> CommandError {
    let described = CommandError(describing: error)
    let hint =
      trashHint(for: name) ?? nearHint(for: name, in: core)
      ?? family?.listing.map { "'vaultctl \($0)' shows the names" } ?? described.hint
    return CommandError(
      described.exit, "there is no entry \(quoted(name))", hint: hint, code: described.code,
      recovery: described.recovery)
  }

  private func nearHint(for name: String, in core: VaultCore) -> String? {
    guard let listing = try? core.listing(of: family?.kind) else { return nil }
    let near = NearNames(of: name, among: listing.items.filter { !$0.isOwned }.compactMap(\.name))
    guard let best = near.names.first else { return nil }
    guard near.names.count == 1, let typed = typable(best) else {
      return "did you mean \(near.names.map(quoted).joined(separator: " or "))?"
    }
    return "did you mean 'vaultctl \(verb.name) \(typed)'?"
  }
}

/// The names that are near one that was typed: the same without regard to case, or else with the typed text in them, or else by letters.
struct NearNames {
  /// The best first, three at most.
  let names: [String]

  init(of typed: String, among known: [String]) {
    let longer = (try? FoldedText(typed)).map { text in known.filter { text.isIn($0) } } ?? []
    // One that is as long differs by the case of letters alone.
    let same = longer.filter { $0.utf8.count == typed.utf8.count }
    let byLetters = known.map { ($0, editDistance(from: $0, to: typed)) }
      .filter { $0.1 <= (typed.utf8.count < 3 ? 0 : typed.utf8.count < 5 ? 1 : 2) }
      .sorted { $0.1 < $1.1 }.map(\.0)
    let all = [same, typed.utf8.count > 1 ? longer : [], byLetters].first { !$0.isEmpty } ?? []
    names = Array(all.prefix(3))
  }
}
