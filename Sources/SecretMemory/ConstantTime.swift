/// Whether `a` and `b` have the same bytes, in a time that depends on their lengths only.
package func isEqualInConstantTime(_ a: RawSpan, _ b: RawSpan) -> Bool {
  guard a.byteCount == b.byteCount else { return false }
  var difference: UInt64 = 0
  var offset = 0
  while offset + 8 <= a.byteCount {
    difference |=
      unsafe a.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self)
      ^ b.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self)
    offset += 8
  }
  while offset < a.byteCount {
    difference |= unsafe UInt64(
      a.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
        ^ b.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self))
    offset += 1
  }
  return opaque(difference) == 0
}

/// Hides a value from the optimizer, so that it cannot make the loop above end early.
@inline(never)
@_optimize(none)
private func opaque(_ value: UInt64) -> UInt64 { value }
