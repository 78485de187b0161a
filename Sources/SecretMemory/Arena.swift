import Glibc
import Synchronization

/// The locked memory of one process: slots of 64 bytes to 64 KiB by powers of two, in regions that are added as
/// needed and never given back.
///
/// A slot that is freed is wiped first, so that every slot handed out is zero. A child made by `fork` starts an
/// arena of its own at its first secret; that of its parent is not mapped there, or wiped.
@safe
final class Arena: Sendable {
  let mark = ForkMark()
  private let slots = unsafe Mutex(Slots())

  /// Lends the arena of this process, which is made at the first call and lives for ever.
  @inline(__always)
  static func withCurrent<Result>(_ body: (Arena) -> Result) -> Result {
    let seen = published.load(ordering: .acquiring)
    if let arena = unsafe arena(at: seen) {
      let result: Result? = unsafe arena._withUnsafeGuaranteedRef { $0.mark.isOfThisProcess ? body($0) : nil }
      if let result { return result }
    }
    return body(publish(Arena()))
  }

  /// A zeroed slot of at least `byteCount` bytes, 0 to 64 KiB.
  func takeSlot(_ byteCount: Int) -> UnsafeMutableRawPointer {
    unsafe slots.withLock { unsafe Unsynchronized($0.take(SlotSize(holding: byteCount))) }.pointer
  }

  /// Takes back a slot that was given out for `byteCount` bytes and has been wiped.
  func giveBack(_ start: UnsafeMutableRawPointer, byteCount: Int) {
    let slot = unsafe Unsynchronized(start)
    unsafe slots.withLock { unsafe $0.giveBack(slot.pointer, of: SlotSize(holding: byteCount)) }
  }

  var status: ArenaStatus { unsafe slots.withLock { unsafe $0.status } }

  /// Lends each region's memory, while no slot can be taken or given back.
  func forEachRegion(_ body: (UnsafeRawBufferPointer) -> Void) {
    unsafe slots.withLock { unsafe $0.forEachRegion(body) }
  }

  private init() {}

  /// Only an arena that was not published ends: nobody has a slot of it.
  deinit {
    unsafe slots.withLock { unsafe $0.discard() }
    mark.discard()
  }

  /// The arena published at `address`; nil for 0.
  @inline(__always)
  private static func arena(at address: UInt) -> Unmanaged<Arena>? {
    unsafe UnsafeRawPointer(bitPattern: address).map { unsafe Unmanaged.fromOpaque($0) }
  }

  /// Makes `arena` the one of this process unless another thread was faster, and returns the one that is.
  @inline(never)
  private static func publish(_ arena: Arena) -> Arena {
    let mine = unsafe UInt(bitPattern: Unmanaged.passRetained(arena).toOpaque())
    var seen = published.load(ordering: .acquiring)
    while true {
      if let other = unsafe Arena.arena(at: seen)?.takeUnretainedValue(), other.mark.isOfThisProcess {
        unsafe Unmanaged.passUnretained(arena).release()
        return other
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
