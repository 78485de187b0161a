extension [UInt8] {
  /// `count` bytes that `fill` writes. The standard library's initializer for memory that is not set yet looks up a
  /// type at each call, which costs more than setting these few bytes.
  @inline(__always)
  init(
    count: Int, filledBy fill: (UnsafeMutableRawBufferPointer) throws(CryptoError) -> Void
  ) throws(CryptoError) {
    self.init(repeating: 0, count: count)
    try unsafe withUnsafeMutableBufferPointer { (buffer) throws(CryptoError) in
      try unsafe fill(UnsafeMutableRawBufferPointer(buffer))
    }
  }
}
