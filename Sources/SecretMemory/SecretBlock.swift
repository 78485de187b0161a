import Glibc

/// A piece of secret memory: a slot of the arena, or pages of its own above 64 KiB.
///
/// It is owned by exactly one ``SecretBytes``, which frees it once.
@usableFromInline
@unsafe
struct SecretBlock: @unchecked Sendable {  // one owner; nobody writes after the owner is made
  @usableFromInline let bytes: UnsafeMutableRawBufferPointer
  @usableFromInline let mark: ForkMark

  static var largestSlot: Int { 64 << 10 }

  /// Zeroed memory of `byteCount` bytes.
  ///
  /// - Precondition: `byteCount` is 0 to ``SecretBytes/maximumByteCount``, and there is memory.
  @usableFromInline
  static func allocate(_ byteCount: Int) -> SecretBlock {
    precondition(0...SecretBytes.maximumByteCount ~= byteCount, "SecretBytes: capacity out of range")
    return unsafe Arena.withCurrent { arena in
      let start = unsafe byteCount > largestSlot ? Pages.mapUnlocked(byteCount) : arena.takeSlot(byteCount)
      let bytes = unsafe UnsafeMutableRawBufferPointer(start: start, count: byteCount)
      return unsafe SecretBlock(bytes: bytes, mark: arena.mark)
    }
  }

  /// Wipes the memory and gives it back. In a child made by `fork` the memory is not there: nothing happens.
  @usableFromInline
  func free() {
    guard unsafe mark.isOfThisProcess, let start = unsafe bytes.baseAddress else { return }
    unsafe explicit_bzero(start, bytes.count)
    if unsafe bytes.count > SecretBlock.largestSlot {
      unsafe Pages.unmap(start, byteCount: bytes.count)
    } else {
      Arena.withCurrent { unsafe $0.giveBack(start, byteCount: bytes.count) }
    }
  }

  /// Stops the process when it is a child that inherited the secret by `fork`: its bytes are not here.
  @inlinable
  func requireOwnProcess() {
    unsafe precondition(mark.isHere, "SecretBytes: read in a process that was forked off")
  }

  private init(bytes: UnsafeMutableRawBufferPointer, mark: ForkMark) {
    unsafe self.bytes = unsafe bytes
    unsafe self.mark = mark
  }
}
