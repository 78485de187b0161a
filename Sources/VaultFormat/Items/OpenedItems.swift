package import VaultStorage

/// Items of one policy that were opened one after the other: their attributes lie in one piece of memory.
package final class OpenedItems: Sendable {
  package let policy: Policy
  private let columns: [Columns]
  private let attributes: [UInt8]

  /// What the clear columns say of an item, and where its attributes end.
  package struct Columns: Sendable {
    package let row: Int64
    package let id: Bytes16
    package let version: UInt64
    package let expires: Int64?
    package let kind: UInt32
    package let hasSecret: Bool
    package let end: Int

    package init(_ row: ItemFields, end: Int) {
      self.row = row.row
      id = row.id
      version = row.version
      expires = row.expires
      kind = row.kind
      hasSecret = row.flags & ItemFlags.hasSecret != 0
      self.end = end
    }
  }

  /// - Parameter attributes: Those of the first item, up to where its columns say that they end, then those of the next.
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
