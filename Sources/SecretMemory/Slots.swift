/// Which slots of the arena are free. The lists lie in ordinary memory: an overrun of a secret cannot bend them.
@unsafe
struct Slots: @unchecked Sendable {  // plain values and pointers, used under the arena's lock only
  /// One stack per size; like the arena it is never given back.
  private let free = UnsafeMutablePointer<PointerStack>.allocate(capacity: SlotSize.count)
  /// The newest region, which leads to the ones before it.
  private var newest: UnsafeMutablePointer<Link>?
  /// The part of the newest region that was never handed out.
  private var fresh = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)
  private var protection = ArenaStatus.Protection.memfdSecret
  private var bytesInUse = 0
  private var bytesReserved = 0
  private var regionCount = 0

  @unsafe
  private struct Link {
    let region: UnsafeMutableRawBufferPointer
    let older: UnsafeMutablePointer<Link>?
  }

  init() { unsafe free.initialize(repeating: PointerStack(), count: SlotSize.count) }

  /// For an arena that was never used.
  func discard() { unsafe free.deallocate() }

  mutating func take(_ size: SlotSize) -> UnsafeMutableRawPointer {
    unsafe bytesInUse += size.byteCount
    if let slot = unsafe free[size.index].pop() { return unsafe slot }
    if unsafe fresh.count < size.byteCount { unsafe addRegion(holding: size) }
    return unsafe takeFresh(size)
  }

  mutating func giveBack(_ slot: UnsafeMutableRawPointer, of size: SlotSize) {
    unsafe bytesInUse -= size.byteCount
    unsafe free[size.index].push(slot)
  }

  var status: ArenaStatus {
    unsafe ArenaStatus(protection: protection, bytesInUse: bytesInUse, bytesReserved: bytesReserved)
  }

  func forEachRegion(_ body: (UnsafeRawBufferPointer) -> Void) {
    var next = unsafe newest
    while let link = unsafe next {
      unsafe body(UnsafeRawBufferPointer(link.pointee.region))
      unsafe next = unsafe link.pointee.older
    }
  }

  private mutating func takeFresh(_ size: SlotSize) -> UnsafeMutableRawPointer {
    let slot = unsafe fresh.baseAddress!
    unsafe fresh = unsafe UnsafeMutableRawBufferPointer(rebasing: fresh[size.byteCount...])
    return unsafe slot
  }

  /// Regions grow from 64 KiB to 1 MiB: a short-lived process locks little, a long-lived one maps seldom.
  private mutating func addRegion(holding size: SlotSize) {
    while unsafe fresh.count >= SlotSize(holding: 0).byteCount {
      let rest = unsafe SlotSize(fittingInto: fresh.count)
      unsafe free[rest.index].push(takeFresh(rest))
    }
    let region = unsafe Pages.mapLocked(max(size.byteCount, 64 << (10 + min(2 * regionCount, 4))))
    let link = UnsafeMutablePointer<Link>.allocate(capacity: 1)
    unsafe link.initialize(to: Link(region: region.bytes, older: newest))
    unsafe newest = unsafe link
    unsafe fresh = unsafe region.bytes
    unsafe regionCount += 1
    unsafe bytesReserved += region.bytes.count
    unsafe protection = unsafe ArenaStatus.Protection.weaker(protection, region.protection)
  }
}
