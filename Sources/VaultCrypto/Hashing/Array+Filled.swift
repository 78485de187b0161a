extension [UInt8] {
  /// `count` bytes that `fill` writes. The standard library's initializer for uninitialized memory looks up a type
  /// at each call, which costs more than setting these few bytes to zero.
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
