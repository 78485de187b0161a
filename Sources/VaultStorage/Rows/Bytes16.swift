/// 16 bytes without an allocation: an item's id, its primary key, its name in the blind index.
package struct Bytes16: Hashable, Sendable {
  package let high: UInt64
  package let low: UInt64

  /// - Precondition: `bytes` are 16.
  package init(_ bytes: [UInt8]) {
    precondition(bytes.count == 16, "Bytes16: not 16 bytes")
    self.init(first: bytes)
  }

  /// The first 16 of at least as many bytes.
  package init(first bytes: [UInt8]) {
    precondition(bytes.count >= 16, "Bytes16: fewer than 16 bytes")
    self = unsafe bytes.withUnsafeBytes { unsafe Bytes16(loading: $0) }
  }

  /// - Precondition: `bytes` are 16.
  package init(_ bytes: RawSpan) {
    precondition(bytes.byteCount == 16, "Bytes16: not 16 bytes")
    self = unsafe bytes.withUnsafeBytes { unsafe Bytes16(loading: $0) }
  }

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// `bytes` are at least 16.
  @unsafe
  init(loading bytes: UnsafeRawBufferPointer) {
    high = unsafe UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self))
    low = unsafe UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
  }

  package var bytes: [UInt8] {
    unsafe withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { unsafe [UInt8]($0) }
  }
}
