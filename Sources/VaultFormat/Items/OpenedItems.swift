package import VaultStorage

/// Items of one policy that were opened in sequence. One buffer holds the attributes of all of them.
package final class OpenedItems: Sendable {
  package let policy: Policy
  private let columns: [Columns]
  private let attributes: [UInt8]

  /// The clear columns of an item, and the offset at which its attributes end.
  package struct Columns: Sendable {
    package let row: Int64
    package let id: Bytes16
    package let version: UInt64
    package let expires: Int64?
    package let kind: UInt32
    package let flags: UInt32
    package let generation: UInt32
    package let end: Int

    package init(_ row: ItemFields, end: Int) {
      self.row = row.row
      id = row.id
      version = row.version
      expires = row.expires
      kind = row.kind
      flags = row.flags
      generation = row.generation
      self.end = end
    }
  }

  /// - Parameter attributes: The attributes of the first item, up to the end that its columns give, then those of the
  ///   next item.
  package init(policy: Policy, columns: [Columns], attributes: [UInt8]) {
    self.policy = policy
    self.columns = columns
    self.attributes = attributes
  }

  package var count: Int { columns.count }
  package var byteCount: Int { attributes.count }

  package func columns(of index: Int) -> Columns { columns[index] }

  package func attributes(of index: Int) -> Attributes {
    let start = index == 0 ? 0 : columns[index - 1].end
    return Attributes(checked: attributes[start..<columns[index].end])
  }
}
