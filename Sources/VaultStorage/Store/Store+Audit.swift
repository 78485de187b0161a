extension Store {
  /// - Throws: ``StorageError/duplicate(_:)`` with `row` when the sequence is taken.
  package mutating func appendAudit(_ entry: AuditRow) throws(StorageError) {
    try change(.appendAudit, entry.sequence, entry.body, entry.mac)
  }

  /// - Returns: False when there is no entry of that sequence.
  @discardableResult
  package mutating func updateAudit(_ entry: AuditRow) throws(StorageError) -> Bool {
    try change(.updateAudit, entry.sequence, entry.body, entry.mac) > 0
  }

  /// - Returns: False when there is no entry of that sequence.
  @discardableResult
  package mutating func deleteAudit(sequence: UInt64) throws(StorageError) -> Bool {
    try change(.deleteAudit, sequence) > 0
  }

  package mutating func auditEntries(
    from first: UInt64 = 0, limit: Int? = nil
  ) throws(StorageError) -> [AuditRow] {
    try rows(.audit, first, limit ?? -1, as: AuditRow.init, by: \.sequence)
  }

  // MARK: - Segments

  /// - Throws: ``StorageError/duplicate(_:)`` with `row` when the number is taken.
  package mutating func insertSegment(_ segment: SegmentRow) throws(StorageError) {
    try change(.insertSegment, segment.number, segment.first, segment.previous, segment.start)
  }

  /// All segments by ascending number.
  package mutating func segments() throws(StorageError) -> [SegmentRow] {
    try rows(.segments, as: SegmentRow.init, by: \.number)
  }

  /// Deletes the segments up to `number`, and the entries before the first entry of the segment that follows.
  ///
  /// - Returns: How many segments were deleted. Without a following segment, nothing is deleted.
  @discardableResult
  package mutating func deleteSegments(through number: UInt64) throws(StorageError) -> Int {
    guard let first = try first(.segmentAfter, number, as: UInt64.init(firstColumn:)) else { return 0 }
    try change(.deleteAuditBefore, first)
    return try change(.deleteSegments, number)
  }
}
