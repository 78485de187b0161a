import Glibc

/// Knows whether the process that made it is the one that asks: `fork` leaves it false in the child.
@safe
package struct ForkMark: @unchecked Sendable {  // the byte is written once, before the mark is shared
  private let byte: UnsafeMutablePointer<UInt8>?
  private let maker: pid_t

  package init() {
    unsafe byte = unsafe Pages.mapForkMark()
    maker = getpid()
  }

  /// Costs one load; where the kernel has no MADV_WIPEONFORK (before 4.14), one `getpid`.
  package var isOfThisProcess: Bool {
    guard let byte = unsafe byte else { return maker == getpid() }
    return unsafe byte.pointee == 1
  }
}
