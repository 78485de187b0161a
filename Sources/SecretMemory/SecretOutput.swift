import Glibc

/// Writes bytes straight from where they are to a descriptor.
package enum SecretOutput {
  /// Writes all bytes, and waits where the descriptor has no room.
  ///
  /// - Returns: 0, or the `errno` of the failure; a part may then be written.
  package static func write(_ bytes: RawSpan, to descriptor: Int32) -> Int32 {
    var offset = 0
    while offset < bytes.byteCount {
      let count = DescriptorWait.writableCount(of: bytes.byteCount - offset, to: descriptor)
      guard count > 0 else { return ECANCELED }
      let written = unsafe bytes.extracting(offset..<offset + count).withUnsafeBytes {
        unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
      }
      guard written <= 0 else {
        offset += written
        continue
      }
      switch written == 0 ? EIO : errno {
      case EINTR: continue
      case EAGAIN:
        var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = unsafe poll(&wait, 1, -1)
      case let code: return code
      }
    }
    return 0
  }
}
