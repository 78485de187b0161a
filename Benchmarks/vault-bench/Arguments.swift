/// The arguments of the command line.
struct Arguments {
  private(set) var words: [String]

  /// Removes `name` and returns whether it was present.
  mutating func flag(_ name: String) -> Bool {
    guard let index = words.firstIndex(of: name) else { return false }
    words.remove(at: index)
    return true
  }

  /// Removes `name` and its value, and returns the value.
  mutating func option(_ name: String) -> String? {
    guard let index = words.firstIndex(of: name), index + 1 < words.count else { return nil }
    let value = words[index + 1]
    words.removeSubrange(index...index + 1)
    return value
  }
}
