/// The keys of a walk so far: the next one is greater, or the file is damaged.
///
/// A damaged page can name one page as the child of many, and so hand out the same rows in a circle: whoever collects
/// them, or reads in batches from the last key on, would never come to an end.
struct Ascending<Key: Comparable> {
  private var last: Key?

  init(after last: Key? = nil) { self.last = last }

  mutating func next(_ key: Key) throws(StorageError) {
    if let last, key <= last { throw .damaged(.page) }
    last = key
  }
}
