import Glibc

/// A piece of secret memory: a slot of the arena, or pages of its own above 64 KiB.
///
/// It is owned by exactly one ``SecretBytes``, which frees it once.
@usableFromInline
@unsafe
struct SecretBlock: @unchecked Sendable {  // one owner; nobody writes after the owner is made
  @usableFromInline let bytes: UnsafeMutableRawBufferPointer
  private let arena: Unmanaged<Arena>  // arenas are immortal

  static var largestSlot: Int { 64 << 10 }

  /// Zeroed memory of `byteCount` bytes.
  ///
  /// - Precondition: `byteCount` is 0 to ``SecretBytes/maximumByteCount``, and there is memory.
  @usableFromInline
  static func allocate(_ byteCount: Int) -> SecretBlock {
    precondition(
      0...SecretBytes.maximumByteCount ~= byteCount, "SecretBytes: capacity out of range")
    let arena = Arena.current
    let start =
      unsafe byteCount > largestSlot ? Pages.mapUnlocked(byteCount) : arena.takeSlot(byteCount)
    return unsafe SecretBlock(
      bytes: UnsafeMutableRawBufferPointer(start: start, count: byteCount),
      arena: Unmanaged.passUnretained(arena))
  }

  /// Wipes the memory and gives it back. In a child made by `fork` the memory is not there: nothing happens.
  @usableFromInline
  func free() {
    unsafe arena._withUnsafeGuaranteedRef { arena in
      guard arena.isOfThisProcess, let start = unsafe bytes.baseAddress else { return }
      unsafe explicit_bzero(start, bytes.count)
      if unsafe bytes.count > SecretBlock.largestSlot {
        unsafe Pages.unmap(start, bytes.count)
      } else {
        unsafe arena.giveBack(start, bytes.count)
      }
    }
  }

  /// Stops the process when it is a child that inherited the secret by `fork`: its bytes are not here.
  @usableFromInline
  func requireOwnProcess() {
    unsafe arena._withUnsafeGuaranteedRef { arena in
      precondition(arena.isOfThisProcess, "SecretBytes: read in a process that was forked off")
    }
  }

  private init(bytes: UnsafeMutableRawBufferPointer, arena: Unmanaged<Arena>) {
    unsafe self.bytes = unsafe bytes
    unsafe self.arena = unsafe arena
  }
}
