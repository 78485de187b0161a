extension OutputRawSpan {
  /// Appends a copy of `bytes`.
  ///
  /// - Precondition: There is room for them.
  @inlinable
  package mutating func append(copying bytes: RawSpan) {
    precondition(bytes.byteCount <= freeCapacity, "OutputRawSpan.append(copying:): no room")
    unsafe withUnsafeMutableBytes { target, count in
      unsafe bytes.withUnsafeBytes { source in
        unsafe UnsafeMutableRawBufferPointer(rebasing: target[count...]).copyMemory(from: source)
      }
      count += bytes.byteCount
    }
  }
}
