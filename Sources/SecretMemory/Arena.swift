import Glibc
import Synchronization

/// The locked memory of one process: slots of 64 bytes to 64 KiB by powers of two, in regions that are added as
/// needed and never given back.
///
/// A slot that is freed is wiped first, so that every slot handed out is zero. A child made by `fork` starts an
/// arena of its own at its first secret; that of its parent is not mapped there, or wiped.
@safe
final class Arena: Sendable {
  private let mark: ForkMark
  private let slots = unsafe Mutex(Slots())

  /// The arena of this process, made at the first call.
  static var current: Arena {
    let seen = published.load(ordering: .acquiring)
    if seen != 0, arena(at: seen).isOfThisProcess { return arena(at: seen) }
    return publish(Arena())
  }

  /// False in a child that inherited the arena by `fork`.
  var isOfThisProcess: Bool { mark.isOfThisProcess }

  /// A zeroed slot of at least `byteCount` bytes, 0 to 64 KiB.
  func takeSlot(_ byteCount: Int) -> UnsafeMutableRawPointer {
    unsafe slots.withLock { unsafe Unsynchronized($0.take(SlotSize(holding: byteCount))) }.pointer
  }

  /// Takes back a slot that was given out for `byteCount` bytes and has been wiped.
  func giveBack(_ start: UnsafeMutableRawPointer, _ byteCount: Int) {
    let slot = unsafe Unsynchronized(start)
    unsafe slots.withLock { unsafe $0.giveBack(slot.pointer, SlotSize(holding: byteCount)) }
  }

  var status: ArenaStatus { unsafe slots.withLock { unsafe $0.status } }

  /// Lends each region's memory, while no slot can be taken or given back.
  func forEachRegion(_ body: (UnsafeRawBufferPointer) -> Void) {
    unsafe slots.withLock { slots in
      unsafe slots.regions.forEach { unsafe body(UnsafeRawBufferPointer($0)) }
    }
  }

  private init() { mark = ForkMark() }

  /// The arena published at `address`, which lives for ever.
  private static func arena(at address: UInt) -> Arena {
    unsafe Unmanaged<Arena>.fromOpaque(UnsafeRawPointer(bitPattern: address)!).takeUnretainedValue()
  }

  /// Makes `arena` the one of this process unless another thread was faster; it then lives for ever.
  private static func publish(_ arena: Arena) -> Arena {
    let mine = unsafe UInt(bitPattern: Unmanaged.passRetained(arena).toOpaque())
    var seen = published.load(ordering: .acquiring)
    while true {
      if seen != 0, Arena.arena(at: seen).isOfThisProcess {
        unsafe Unmanaged.passUnretained(arena).release()
        return Arena.arena(at: seen)
      }
      let (won, now) = published.compareExchange(
        expected: seen, desired: mine, ordering: .acquiringAndReleasing)
      if won { return arena }
      seen = now
    }
  }

  /// The address of the newest arena, 0 before the first.
  private static let published = Atomic<UInt>(0)
}

/// Carries a pointer out of a lock; what it points to is guarded by its owner, not by that lock.
@unsafe
private struct Unsynchronized: @unchecked Sendable {
  let pointer: UnsafeMutableRawPointer
  init(_ pointer: UnsafeMutableRawPointer) { unsafe self.pointer = unsafe pointer }
}

/// The size of a slot: 64 bytes shifted left by `index`.
struct SlotSize {
  static var count: Int { 11 }
  let index: Int
  var byteCount: Int { 64 << index }

  /// The smallest slot that holds `byteCount` bytes, 0 to 64 KiB.
  init(holding byteCount: Int) {
    index = byteCount <= 64 ? 0 : Int.bitWidth - (byteCount - 1).leadingZeroBitCount - 6
  }

  /// The largest slot that fits into `byteCount` bytes, 64 or more.
  init(fittingInto byteCount: Int) {
    index = min(Int.bitWidth - 1 - byteCount.leadingZeroBitCount - 6, SlotSize.count - 1)
  }
}
