/// Bytes that are not a record of the format, or a field that is missing or malformed.
package enum RecordError: Error, Equatable, Sendable {
  /// The bytes end within a field.
  case truncated
  /// A field number is not greater than the one before.
  case notAscending
  /// The record has no such field.
  case missing(UInt16)
  /// A field does not have the length of its type, is not UTF-8, or is not a record.
  case malformed(UInt16)
  /// The field numbers are not 1, 2, 3 … without a gap.
  case notAList
}
