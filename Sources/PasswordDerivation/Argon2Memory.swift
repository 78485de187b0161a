import Glibc
import Synchronization

/// The work memory of Argon2: in pages of 2 MiB where the kernel gives them, in no core dump and no child, and locked where the
/// limit allows it. The kernel has given all of its pages, so that their use cannot fail. libargon2 wipes it.
@safe
package struct Argon2Memory: ~Copyable {
  private let start: UnsafeMutableRawPointer
  private let byteCount: Int

  /// - Throws: ``DerivationError/outOfMemory``.
  init(byteCount: Int) throws(DerivationError) {
    let byteCount = (byteCount + Self.page - 1) / Self.page * Self.page
    let flags = MAP_PRIVATE | MAP_ANONYMOUS
    let outer = unsafe mmap(nil, byteCount + Self.hugePage, PROT_READ | PROT_WRITE, flags, -1, 0)
    guard let outer = unsafe outer, unsafe outer != MAP_FAILED else { throw .outOfMemory }
    let start = unsafe Self.trim(outer, byteCount)
    _ = unsafe madvise(start, byteCount, MADV_HUGEPAGE)
    _ = unsafe madvise(start, byteCount, MADV_DONTDUMP)
    _ = unsafe madvise(start, byteCount, MADV_DONTFORK)
    let isLocked = unsafe mlock(start, byteCount) == 0
    Self.lastLock.store(isLocked ? 1 : 2, ordering: .relaxed)
    // The kernel has given what it has locked.
    let isThere = unsafe isLocked || Self.populate(start, byteCount)
    guard isThere else {
      unsafe munmap(start, byteCount)
      throw .outOfMemory
    }
    unsafe (self.start, self.byteCount) = unsafe (start, byteCount)
  }

  deinit { unsafe munmap(start, byteCount) }

  func lend<R>(_ body: (UnsafeMutableRawPointer) -> R) -> R { unsafe body(start) }

  /// Whether the memory of the last derivation was locked; nil before the first. For diagnostics.
  package static var wasLocked: Bool? {
    switch lastLock.load(ordering: .relaxed) {
    case 0: nil
    case 1: true
    default: false
    }
  }

  /// Unmaps what is before the first multiple of 2 MiB, and what is after the `byteCount` bytes that begin there.
  private static func trim(_ outer: UnsafeMutableRawPointer, _ byteCount: Int) -> UnsafeMutableRawPointer {
    let start = unsafe outer.alignedUp(toMultipleOf: hugePage)
    let (end, outerEnd) = unsafe (start + byteCount, outer + byteCount + hugePage)
    if unsafe start > outer { unsafe munmap(outer, start - outer) }
    if unsafe outerEnd > end { unsafe munmap(end, outerEnd - end) }
    return unsafe start
  }

  /// Has the kernel give every page now.
  ///
  /// - Returns: Whether there are so many.
  private static func populate(_ start: UnsafeMutableRawPointer, _ byteCount: Int) -> Bool {
    if unsafe madvise(start, byteCount, populateForWriting) == 0 { return true }
    guard errno == EINVAL else { return false }
    // Before Linux 5.14, a write to each page is the only way.
    for offset in stride(from: 0, to: byteCount, by: page) {
      unsafe start.storeBytes(of: 0, toByteOffset: offset, as: UInt8.self)
    }
    return true
  }

  private static var page: Int { sysconf(Int32(_SC_PAGESIZE)) }
  private static var hugePage: Int { 2 << 20 }
  /// MADV_POPULATE_WRITE, which the Glibc module lacks.
  private static var populateForWriting: Int32 { 23 }
  private static let lastLock = Atomic<UInt8>(0)
}
