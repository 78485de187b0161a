/// What an item was before, for one that is added with its history.
package struct NewFormer: Sendable {
  /// What it kept.
  package let content: EntryContent
  /// When another content took its place.
  package let until: Instant

  package init(_ content: EntryContent, until: Instant) { (self.content, self.until) = (content, until) }
}
