import Glibc
import Synchronization

/// The work memory of Argon2: in pages of 2 MiB where the kernel gives them, in no core dump and no child, locked
/// where the limit allows it. libargon2 wipes it before it is given back.
package enum Argon2Memory {
  /// Whether the last derivation's memory was locked; nil before the first. For diagnostics.
  package static var wasLocked: Bool? {
    switch lastLock.load(ordering: .relaxed) {
    case 0: nil
    case 1: true
    default: false
    }
  }

  /// libargon2's allocate_cbk: 0 and the memory, or -1.
  static func allocate(_ memory: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?, _ byteCount: Int)
    -> Int32
  {
    let flags = MAP_PRIVATE | MAP_ANONYMOUS
    let outer = unsafe mmap(nil, byteCount + hugePage, PROT_READ | PROT_WRITE, flags, -1, 0)
    guard let outer = unsafe outer, unsafe outer != MAP_FAILED else { return -1 }
    let start = unsafe trim(outer, byteCount)
    _ = unsafe madvise(start, byteCount, MADV_HUGEPAGE)
    _ = unsafe madvise(start, byteCount, MADV_DONTDUMP)
    _ = unsafe madvise(start, byteCount, MADV_DONTFORK)
    unsafe lastLock.store(mlock(start, byteCount) == 0 ? 1 : 2, ordering: .relaxed)
    unsafe memory?.pointee = unsafe start.assumingMemoryBound(to: UInt8.self)
    return 0
  }

  /// libargon2's free_cbk.
  static func free(_ memory: UnsafeMutablePointer<UInt8>?, _ byteCount: Int) {
    guard let memory = unsafe memory else { return }
    unsafe munmap(memory, pageRounded(byteCount))
  }

  /// Gives back what lies before the first multiple of 2 MiB and behind `byteCount` bytes from there.
  private static func trim(_ outer: UnsafeMutableRawPointer, _ byteCount: Int) -> UnsafeMutableRawPointer {
    let start = unsafe outer.alignedUp(toMultipleOf: hugePage)
    let end = unsafe start + pageRounded(byteCount)
    let outerEnd = unsafe outer + pageRounded(byteCount + hugePage)
    if unsafe start > outer { unsafe munmap(outer, start - outer) }
    if unsafe outerEnd > end { unsafe munmap(end, outerEnd - end) }
    return unsafe start
  }

  private static func pageRounded(_ byteCount: Int) -> Int {
    let page = sysconf(Int32(_SC_PAGESIZE))
    return (byteCount + page - 1) / page * page
  }

  private static var hugePage: Int { 2 << 20 }
  private static let lastLock = Atomic<UInt8>(0)
}
