/// The keys of a walk so far. The next key must be greater, or the file is damaged.
///
/// A damaged page can name one page as the child of many, so that the same rows come in a circle. A caller that
/// collects them, or reads in batches from the last key on, would never end.
struct Ascending<Key: Comparable> {
  private var last: Key?

  init(after last: Key? = nil) { self.last = last }

  mutating func next(_ key: Key) throws(StorageError) {
    if let last, key <= last { throw .damaged(.page) }
    last = key
  }
}
