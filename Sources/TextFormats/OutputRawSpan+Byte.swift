extension OutputRawSpan {
  /// Appends one byte: of all types this one has no padding that could be left uninitialized.
  @inlinable @inline(__always)
  package mutating func append(byte: UInt8) { unsafe append(byte, as: UInt8.self) }
}
