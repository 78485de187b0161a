/// The command by which a shell completes the name of an item.
enum NamesCommand {
  /// - Parameter kind: The value of `--kind`; `nil` for all items.
  static func text(kind: String? = nil) -> String {
    let filter = kind.map { " --kind \($0)" } ?? ""
    return "vaultctl ls\(filter) --format name --no-input 2>/dev/null"
  }
}
