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
    let outer = unsafe map(byteCount + 2 * pageSize, PROT_NONE)
    let start = unsafe outer + pageSize
    let protection =
      unsafe mapSecretFile(start, byteCount) ? .memfdSecret : lockAnonymous(start, byteCount)
    return unsafe Region(
      bytes: UnsafeMutableRawBufferPointer(start: start, count: byteCount), protection: protection)
  }

  /// `byteCount` bytes that no core dump and no child holds; the kernel may swap them out.
  static func mapUnlocked(_ byteCount: Int) -> UnsafeMutableRawPointer {
    let start = unsafe map(byteCount, PROT_READ | PROT_WRITE)
    unsafe hide(start, byteCount)
    return unsafe start
  }

  static func unmap(_ start: UnsafeMutableRawPointer, _ byteCount: Int) {
    precondition(unsafe munmap(start, byteCount) == 0, "SecretMemory: munmap failed")
  }

  /// One page that holds 1 here and 0 in a child made by `fork`; nil where the kernel cannot do that.
  static func mapForkMark() -> UnsafeMutablePointer<UInt8>? {
    let page = unsafe map(pageSize, PROT_READ | PROT_WRITE)
    guard unsafe madvise(page, pageSize, MADV_WIPEONFORK) == 0 else {
      unsafe unmap(page, pageSize)
      return nil
    }
    return unsafe page.initializeMemory(as: UInt8.self, repeating: 1, count: 1)
  }

  /// memfd_secret(2): out of the kernel's own mapping, so neither root's tools nor a dump read it. A child could,
  /// so it is left out of `fork` (MADV_WIPEONFORK is refused there).
  private static func mapSecretFile(_ start: UnsafeMutableRawPointer, _ byteCount: Int) -> Bool {
    let file = clinux_memfd_secret()
    guard file >= 0 else { return false }
    defer { close(file) }
    guard ftruncate(file, byteCount) == 0 else { return false }
    let mapped = unsafe mmap(start, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0)
    guard unsafe mapped == start else { return false }
    guard unsafe madvise(start, byteCount, MADV_DONTFORK) == 0 else { return false }
    _ = unsafe madvise(start, byteCount, MADV_DONTDUMP)
    return true
  }

  private static func lockAnonymous(
    _ start: UnsafeMutableRawPointer, _ byteCount: Int
  ) -> ArenaStatus.Protection {
    let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED
    let mapped = unsafe mmap(start, byteCount, PROT_READ | PROT_WRITE, flags, -1, 0)
    precondition(unsafe mapped == start, "SecretMemory: out of memory")
    unsafe hide(start, byteCount)
    return unsafe mlock(start, byteCount) == 0 ? .mlocked : .notLocked(errno: errno)
  }

  private static func hide(_ start: UnsafeMutableRawPointer, _ byteCount: Int) {
    _ = unsafe madvise(start, byteCount, MADV_DONTDUMP)
    if unsafe madvise(start, byteCount, MADV_WIPEONFORK) != 0 {
      _ = unsafe madvise(start, byteCount, MADV_DONTFORK)
    }
  }

  private static func map(_ byteCount: Int, _ protection: Int32) -> UnsafeMutableRawPointer {
    let pages = unsafe mmap(nil, byteCount, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let pages = unsafe pages, unsafe pages != MAP_FAILED else {
      preconditionFailure("SecretMemory: out of memory")
    }
    return unsafe pages
  }

  private static let pageSize = sysconf(Int32(_SC_PAGESIZE))
}
