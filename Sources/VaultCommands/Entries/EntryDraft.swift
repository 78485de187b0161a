import CommandLineKit
import SecretMemory
package import VaultKit
import VaultWords

/// An entry as a person edits it: what is readable without the passcode, and what is sealed.
package struct EntryDraft: Sendable {
  /// The attributes that are text, by the words of ``ItemLine/attributes``; an empty text is none.
  package var texts: [String: String] = [:]
  package var tags: [String] = []
  package var content = EntryContent()

  package init() {}

  init(_ item: Item, _ content: EntryContent) {
    for (word, attribute) in ItemLine.attributes {
      if let text = item.attributes[attribute] { texts[word] = text }
    }
    tags = item.tags
    self.content = content
  }

  /// The changes of attributes that make this of another one, and the names of what they change.
  package func changes(from old: EntryDraft) -> (changes: ItemChanges, names: [String]) {
    var (changes, names) = (ItemChanges(), [String]())
    for (word, attribute) in ItemLine.attributes {
      let (before, now) = (old.texts[word] ?? "", texts[word] ?? "")
      // Two texts of other forms are equal for Swift.
      guard !before.utf8.elementsEqual(now.utf8) else { continue }
      names.append(word)
      if now.isEmpty { changes.removed.append(attribute.code) } else { changes.attributes[attribute] = now }
    }
    if Tags.attribute(tags) != Tags.attribute(old.tags) {
      names.append("tags")
      changes.setTags(tags)
    }
    return (changes, names)
  }

  /// Makes the sealed part of an entry that of this draft. What is not different stays as it is, with what a later version keeps in it.
  package func apply(to entry: inout EntryContent) throws(VaultError) {
    let different = Set(entry.differences(from: content))
    if different.contains("password") { entry.setPassword(content.password) }
    if different.contains("notes") { try entry.setNotes(content.notes) }
    if different.contains("addresses") {
      entry.removeAddresses()
      for address in content.sharedAddresses { try entry.addAddress(address.copy()) }
    }
    for field in entry.fields where !content.fields.contains(where: { $0.name == field.name }) {
      try entry.removeField(field.name)
    }
    for field in content.fields {
      let old = try? entry.field(field.name)
      guard
        old?.isHidden != field.isHidden
          || old?.shared.bytes.isEqualInConstantTime(to: field.shared.bytes) != true
      else { continue }
      try entry.setField(field.name, to: field.value, isHidden: field.isHidden)
    }
  }
}
