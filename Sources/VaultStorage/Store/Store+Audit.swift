extension Store {
  /// - Throws: ``StorageError/duplicate(_:)`` with `row` when the sequence is taken.
  package mutating func appendAudit(_ entry: AuditRow) throws(StorageError) {
    try change(.appendAudit) { row throws(StorageError) in try row.bind(entry) }
  }

  /// - Returns: False when there is no entry of that sequence.
  @discardableResult
  package mutating func updateAudit(_ entry: AuditRow) throws(StorageError) -> Bool {
    try change(.updateAudit) { row throws(StorageError) in try row.bind(entry) } > 0
  }

  /// - Returns: False when there is no entry of that sequence.
  @discardableResult
  package mutating func deleteAudit(sequence: UInt64) throws(StorageError) -> Bool {
    try change(.deleteAudit) { row throws(StorageError) in try row.bind(sequence, at: 1) } > 0
  }

  /// Lends the entries from sequence `first`, at most `limit`, in ascending sequence until `body` returns false.
  package mutating func forEachAudit<E: StorageFailure>(
    from first: UInt64 = 0, limit: Int? = nil, _ body: (AuditRow) throws(E) -> Bool
  ) throws(E) {
    try run(.audit) { row throws(E) in
      try E.from { () throws(StorageError) in
        try row.bind(first, at: 1)
        try row.bind(limit ?? -1, at: 2)
      }
      var order = Ascending<UInt64>()
      while let entry = try E.from({ () throws(StorageError) in try row.step() ? try AuditRow(row) : nil }) {
        try E.from { () throws(StorageError) in try order.next(entry.sequence) }
        guard try body(entry) else { return }
      }
    }
  }

  package mutating func auditEntries(
    from first: UInt64 = 0, limit: Int? = nil
  ) throws(StorageError) -> [AuditRow] {
    var entries: [AuditRow] = []
    try forEachAudit(from: first, limit: limit) { entry throws(StorageError) in
      entries.append(entry)
      return true
    }
    return entries
  }

  // MARK: - Segments

  /// - Throws: ``StorageError/duplicate(_:)`` with `row` when the number is taken.
  package mutating func insertSegment(_ segment: SegmentRow) throws(StorageError) {
    try change(.insertSegment) { row throws(StorageError) in
      try row.bind(segment.number, at: 1)
      try row.bind(segment.first, at: 2)
      try row.bind(segment.previous, at: 3)
      try row.bind(segment.start, at: 4)
    }
  }

  /// All segments by ascending number.
  package mutating func segments() throws(StorageError) -> [SegmentRow] {
    try run(.segments) { row throws(StorageError) in
      var segments: [SegmentRow] = []
      var order = Ascending<UInt64>()
      while try row.step() {
        let segment = try SegmentRow(row)
        try order.next(segment.number)
        segments.append(segment)
      }
      return segments
    }
  }

  /// Deletes the segments up to `number`, and the entries before the first entry of the segment that follows.
  ///
  /// - Returns: How many segments were deleted. Without a following segment, nothing is deleted.
  @discardableResult
  package mutating func deleteSegments(through number: UInt64) throws(StorageError) -> Int {
    let first: UInt64? = try run(.segmentAfter) { row throws(StorageError) in
      try row.bind(number, at: 1)
      return try row.step() ? try row.integer(0) : nil
    }
    guard let first else { return 0 }
    try change(.deleteAuditBefore) { row throws(StorageError) in try row.bind(first, at: 1) }
    return try change(.deleteSegments) { row throws(StorageError) in try row.bind(number, at: 1) }
  }
}

extension Cursor {
  fileprivate func bind(_ entry: AuditRow) throws(StorageError) {
    try bind(entry.sequence, at: 1)
    try bind(entry.body, at: 2)
    try bind(entry.mac, at: 3)
  }
}
