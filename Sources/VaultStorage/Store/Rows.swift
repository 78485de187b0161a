/// The row of `header`.
package struct HeaderRow: Equatable, Sendable {
  package var body: [UInt8]
  /// 32 bytes.
  package var mac: [UInt8]

  package init(body: [UInt8], mac: [UInt8]) {
    self.body = body
    self.mac = mac
  }
}

/// A row of `slot`.
package struct SlotRow: Equatable, Sendable {
  package var id: Int64
  package var kind: UInt8
  package var subject: UInt32
  package var generation: UInt32
  package var opener: UInt8
  /// Empty or 16 bytes.
  package var openerID: [UInt8]
  package var body: [UInt8]

  package init(
    id: Int64, kind: UInt8, subject: UInt32, generation: UInt32, opener: UInt8, openerID: [UInt8],
    body: [UInt8]
  ) {
    self.id = id
    self.kind = kind
    self.subject = subject
    self.generation = generation
    self.opener = opener
    self.openerID = openerID
    self.body = body
  }
}

/// A row of `item`.
package struct ItemRow: Equatable, Sendable {
  /// From 1.
  package var row: Int64
  package var id: Bytes16
  package var kind: UInt32
  package var primaryKey: Bytes16
  package var name: Bytes16?
  package var flags: UInt32
  package var `class`: UInt8
  package var generation: UInt32
  package var version: UInt64
  package var material: UInt64
  /// Milliseconds since 1970.
  package var expires: Int64?
  package var meta: [UInt8]
  /// As of ``ItemFields``.
  package var isDamaged = false

  package init(
    row: Int64, id: Bytes16, kind: UInt32, primaryKey: Bytes16, name: Bytes16?, flags: UInt32,
    class: UInt8, generation: UInt32, version: UInt64, material: UInt64, expires: Int64?, meta: [UInt8]
  ) {
    self.row = row
    self.id = id
    self.kind = kind
    self.primaryKey = primaryKey
    self.name = name
    self.flags = flags
    self.class = `class`
    self.generation = generation
    self.version = version
    self.material = material
    self.expires = expires
    self.meta = meta
  }

  /// All columns but `meta`.
  package var fields: ItemFields {
    ItemFields(
      row: row, id: id, kind: kind, primaryKey: primaryKey, name: name, flags: flags, class: `class`,
      generation: generation, version: version, material: material, expires: expires, isDamaged: isDamaged)
  }
}

/// The columns of ``ItemRow`` but `meta`, without an allocation.
package struct ItemFields: Equatable, Sendable {
  package let row: Int64
  package let id: Bytes16
  package let kind: UInt32
  package let primaryKey: Bytes16
  package let name: Bytes16?
  package let flags: UInt32
  package let `class`: UInt8
  package let generation: UInt32
  package let version: UInt64
  package let material: UInt64
  package let expires: Int64?
  /// Whether a column has a value of a type, length or range that cannot be; it reads as zero, empty or NULL. The other rows
  /// can be read all the same, and this one can be removed.
  package let isDamaged: Bool
}

/// A row of `material`.
package struct MaterialRow: Equatable, Sendable {
  package var keys: [UInt8]
  package var secret: [UInt8]

  package init(keys: [UInt8], secret: [UInt8]) {
    self.keys = keys
    self.secret = secret
  }
}

/// A row of `state`.
package struct StateRow: Equatable, Sendable {
  package var revision: UInt64
  package var body: [UInt8]

  package init(revision: UInt64, body: [UInt8]) {
    self.revision = revision
    self.body = body
  }
}

/// A row of `audit`.
package struct AuditRow: Equatable, Sendable {
  package var sequence: UInt64
  package var body: [UInt8]
  /// 32 bytes; of any length where the file is damaged.
  package var mac: [UInt8]

  package init(sequence: UInt64, body: [UInt8], mac: [UInt8]) {
    self.sequence = sequence
    self.body = body
    self.mac = mac
  }
}

/// A row of `segment`.
package struct SegmentRow: Equatable, Sendable {
  package var number: UInt64
  /// The sequence of its first entry.
  package var first: UInt64
  /// 32 bytes.
  package var previous: [UInt8]
  package var start: [UInt8]

  package init(number: UInt64, first: UInt64, previous: [UInt8], start: [UInt8]) {
    self.number = number
    self.first = first
    self.previous = previous
    self.start = start
  }
}

/// What one row adds to the sum (section 8 of the format).
package struct SummedRow: Equatable, Sendable {
  package enum Table: UInt8, Sendable, CaseIterable {
    case item = 1, material, state, blind
  }

  package var table: Table
  package var row: Int64
  /// That of the item's row, for row 0 of `state` the one in its body; nil when there is no such item.
  package var generation: UInt32?
  /// 16 or, for `material`, 32 bytes; fewer where a column has a value that cannot be, which has no generation either.
  package var tags: [UInt8]

  package init(table: Table, row: Int64, generation: UInt32?, tags: [UInt8]) {
    self.table = table
    self.row = row
    self.generation = generation
    self.tags = tags
  }
}

/// How many rows there are.
package struct RowCounts: Equatable, Sendable {
  package var items: Int
  package var materials: Int
  package var states: Int
  package var blinds: Int

  package init(items: Int, materials: Int, states: Int, blinds: Int) {
    self.items = items
    self.materials = materials
    self.states = states
    self.blinds = blinds
  }

  /// The rows that the sum covers.
  package var summed: Int { items + materials + states + blinds }
}
