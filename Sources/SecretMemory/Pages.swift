import CLinux
import Glibc

/// Pages from the kernel, each kind with what keeps it out of swap, core dumps and children.
enum Pages {
  @unsafe
  struct Region {
    let bytes: UnsafeMutableRawBufferPointer
    let protection: ArenaStatus.Protection
  }

  /// `byteCount` bytes, a multiple of the page size, between two guard pages, locked if the system allows it.
  static func mapLocked(_ byteCount: Int) -> Region {
    let outerCount = byteCount + 2 * pageSize
    let secretFile = unsafe mapSecretFile(outerCount)
    let outer = unsafe secretFile ?? map(outerCount, protection: PROT_READ | PROT_WRITE)
    let start = unsafe outer + pageSize
    unsafe forbid(outer)
    unsafe forbid(start + byteCount)
    let protection = unsafe secretFile != nil ? .memfdSecret : lock(start, byteCount: byteCount)
    return unsafe Region(
      bytes: UnsafeMutableRawBufferPointer(start: start, count: byteCount), protection: protection)
  }

  /// `byteCount` bytes that no core dump and no child holds; the kernel may swap them out.
  static func mapUnlocked(_ byteCount: Int) -> UnsafeMutableRawPointer {
    let start = unsafe map(byteCount, protection: PROT_READ | PROT_WRITE)
    unsafe hide(start, byteCount: byteCount)
    return unsafe start
  }

  static func unmap(_ start: UnsafeMutableRawPointer, byteCount: Int) {
    precondition(unsafe munmap(start, byteCount) == 0, "SecretMemory: munmap failed")
  }

  /// The page behind a ``ForkMark``: a byte that the kernel wipes in a child, or, where it cannot, the process id.
  static func mapForkMark() -> UnsafePointer<UInt8> {
    let page = unsafe map(pageSize, protection: PROT_READ | PROT_WRITE)
    let isWiped = unsafe madvise(page, pageSize, MADV_WIPEONFORK) == 0
    unsafe page.storeBytes(of: getpid(), toByteOffset: 8, as: pid_t.self)
    unsafe page.storeBytes(of: isWiped ? ForkMark.wipedByKernel : ForkMark.keptByKernel, as: UInt8.self)
    return unsafe UnsafePointer(page.assumingMemoryBound(to: UInt8.self))
  }

  static func unmapForkMark(_ byte: UnsafePointer<UInt8>) {
    unsafe unmap(UnsafeMutableRawPointer(mutating: byte), byteCount: pageSize)
  }

  /// memfd_secret(2): out of the kernel's own mapping, so neither root's tools nor a dump read it. A child could,
  /// so it is left out of `fork` (MADV_WIPEONFORK is refused there). Nil where there is none, or the limit is met.
  private static func mapSecretFile(_ byteCount: Int) -> UnsafeMutableRawPointer? {
    let file = clinux_memfd_secret()
    guard file >= 0 else { return nil }
    defer { close(file) }
    guard ftruncate(file, byteCount) == 0 else { return nil }
    let start = unsafe mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
    guard let start = unsafe start, unsafe start != MAP_FAILED else { return nil }
    guard unsafe madvise(start, byteCount, MADV_DONTFORK) == 0 else {
      unsafe unmap(start, byteCount: byteCount)
      return nil
    }
    _ = unsafe madvise(start, byteCount, MADV_DONTDUMP)
    return unsafe start
  }

  private static func lock(_ start: UnsafeMutableRawPointer, byteCount: Int) -> ArenaStatus.Protection {
    unsafe hide(start, byteCount: byteCount)
    return unsafe mlock(start, byteCount) == 0 ? .mlocked : .notLocked(errno: errno)
  }

  private static func forbid(_ page: UnsafeMutableRawPointer) {
    precondition(unsafe mprotect(page, pageSize, PROT_NONE) == 0, "SecretMemory: no guard page")
  }

  private static func hide(_ start: UnsafeMutableRawPointer, byteCount: Int) {
    _ = unsafe madvise(start, byteCount, MADV_DONTDUMP)
    if unsafe madvise(start, byteCount, MADV_WIPEONFORK) != 0 {
      _ = unsafe madvise(start, byteCount, MADV_DONTFORK)
    }
  }

  private static func map(_ byteCount: Int, protection: Int32) -> UnsafeMutableRawPointer {
    let pages = unsafe mmap(nil, byteCount, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let pages = unsafe pages, unsafe pages != MAP_FAILED else {
      preconditionFailure("SecretMemory: out of memory")
    }
    return unsafe pages
  }

  private static let pageSize = sysconf(Int32(_SC_PAGESIZE))
}
