import VaultStorage

/// Items of one policy that were opened one after the other: their attributes lie in one piece of memory.
final class OpenedItems: Sendable {
  let policy: Policy
  private let columns: [Columns]
  private let attributes: [UInt8]

  /// What the clear columns say of an item, and where its attributes end.
  struct Columns: Sendable {
    let row: Int64
    let id: Bytes16
    let version: UInt64
    let expires: Int64?
    let kind: UInt32
    let hasSecret: Bool
    let end: Int

    init(_ row: ItemFields, end: Int) {
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
  init(policy: Policy, columns: [Columns], attributes: [UInt8]) {
    self.policy = policy
    self.columns = columns
    self.attributes = attributes
  }

  var count: Int { columns.count }
  var byteCount: Int { attributes.count }

  func columns(of index: Int) -> Columns { columns[index] }

  func attributes(of index: Int) -> Attributes {
    let start = index == 0 ? 0 : columns[index - 1].end
    return Attributes(checked: attributes[start..<columns[index].end])
  }
}
