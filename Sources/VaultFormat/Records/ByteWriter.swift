/// Writes values in sequence, big endian, into the caller's memory. The caller makes sure that they fit.
@unsafe
package struct ByteWriter {
  private let start: UnsafeMutableRawPointer
  package private(set) var count = 0

  package init(_ memory: UnsafeMutableRawBufferPointer) { unsafe start = memory.baseAddress! }

  @inline(__always)
  package mutating func append(_ value: some FixedWidthInteger) {
    unsafe start.storeBytes(of: value.bigEndian, toByteOffset: count, as: type(of: value.bigEndian))
    unsafe count += value.bitWidth / 8
  }

  @inline(__always)
  package mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress else { return }
    unsafe (start + count).copyMemory(from: source, byteCount: bytes.count)
    unsafe count += bytes.count
  }
}
