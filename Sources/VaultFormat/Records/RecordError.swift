/// Bytes that are no record of the format, or a field that is not what is asked for.
package enum RecordError: Error, Equatable, Sendable {
  /// The bytes end within a field.
  case truncated
  /// A field number is not greater than the one before.
  case notAscending
  /// The record has no such field.
  case missing(UInt16)
  /// A field has another length than its type, or is no UTF-8, or no record.
  case malformed(UInt16)
  /// The field numbers are not 1, 2, 3 … without a gap.
  case notAList
}
