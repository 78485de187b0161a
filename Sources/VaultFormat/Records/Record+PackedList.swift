extension Record {
  /// The entries of a packed list: joined entries of one fixed length, without duplicates (section 1). `nil` if the
  /// field is absent or its bytes are not such a list.
  ///
  /// - Parameters:
  ///   - byteCount: The length of an entry. Each entry begins with a u32 number, except in a list that is
  ///     `inOrderOfTime`.
  ///   - inOrderOfTime: Whether the entries are in the order in which they were added; the numbers of all other lists
  ///     are strictly ascending.
  package func packedList(_ field: UInt16, of byteCount: Int, inOrderOfTime: Bool = false) -> [[UInt8]]? {
    guard let bytes = self[field], bytes.count % byteCount == 0 else { return nil }
    let entries = stride(from: 0, to: bytes.count, by: byteCount).map { Array(bytes[$0..<$0 + byteCount]) }
    if inOrderOfTime {
      // The first set of a process is a tenth of a millisecond, and most lists are empty.
      return entries.count < 2 || Set(entries).count == entries.count ? entries : nil
    }
    let numbers = entries.map { $0.bigEndian(at: 0) as UInt32 }
    return zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 } ? entries : nil
  }
}
