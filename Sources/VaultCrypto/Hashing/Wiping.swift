import Glibc

/// Overwrites `bytes`. The optimizer cannot remove it.
@inline(__always)
func wipe(_ bytes: UnsafeMutableRawBufferPointer) {
  if let start = bytes.baseAddress { unsafe explicit_bzero(start, bytes.count) }
}
