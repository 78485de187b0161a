import Glibc

/// Tells whether this is the process that made the mark. In a child made by `fork` it is not.
@safe
@frozen
@usableFromInline
package struct ForkMark: @unchecked Sendable {  // the page is written once, before the mark is shared
  @usableFromInline let byte: UnsafePointer<UInt8>

  init() {
    unsafe byte = unsafe Pages.mapForkMark()
  }

  /// Unmaps a mark that was never shared.
  func discard() { unsafe Pages.unmapForkMark(byte) }

  /// The mark of the calling process, the same at each call.
  package static var ofThisProcess: ForkMark { Arena.withCurrent { $0.mark } }

  /// A mark whose address was stored.
  @inlinable
  package init(at address: UnsafeRawPointer) {
    unsafe byte = unsafe address.assumingMemoryBound(to: UInt8.self)
  }

  package var address: UnsafeRawPointer { unsafe UnsafeRawPointer(byte) }

  /// Costs one load.
  @inlinable
  package var isOfThisProcess: Bool { isHere }

  /// The same, for the inlinable code of this module.
  @inlinable
  var isHere: Bool {
    unsafe byte.pointee == ForkMark.wipedByKernel || isOfThisProcessByID
  }

  /// For kernels that do not wipe the page in a child (before 4.14, and some sandboxes): compares the process id
  /// that is stored after the byte.
  @usableFromInline
  var isOfThisProcessByID: Bool {
    guard unsafe byte.pointee == ForkMark.keptByKernel else { return false }
    return unsafe UnsafeRawPointer(byte).load(fromByteOffset: 8, as: pid_t.self) == getpid()
  }

  @usableFromInline static var wipedByKernel: UInt8 { 1 }
  static var keptByKernel: UInt8 { 2 }
}
