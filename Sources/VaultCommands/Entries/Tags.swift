import CommandLineKit
import TextPreparation
import VaultKit
import VaultWords

/// The tags of an item: words by which a person finds it. They are readable while the vault is locked.
enum Tags {
  /// A tag in form C of Unicode.
  ///
  /// - Throws: Exit 12 for one that is empty, longer than a name, or does not show as what it is.
  static func checked(_ tag: String, named place: String) throws(CommandError) -> String {
    try Names.checkNew(tag, named: place)
    do throws(TextPreparationError) { return try TextPreparation.normalized(tag) } catch {
      throw CommandError(VaultError(error, in: place))
    }
  }

  /// The value of the attribute: each tag once, ascending by bytes; `nil` without any.
  static func attribute(_ tags: [String]) -> String? {
    let sorted = Set(tags.map { Array($0.utf8) }).sorted { $0.lexicographicallyPrecedes($1) }
    guard !sorted.isEmpty else { return nil }
    return sorted.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
  }
}

extension ItemChanges {
  /// Sets the tags, or removes the last one.
  mutating func setTags(_ tags: [String]) {
    let code = Attribute<String>.tags.code
    if let text = Tags.attribute(tags) {
      attributes[.tags] = text
      removed.removeAll { $0 == code }
    } else {
      removed.append(code)
    }
  }
}
