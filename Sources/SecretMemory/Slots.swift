/// Which slots of the arena are free. The lists lie in ordinary memory: an overrun of a secret cannot bend them.
@unsafe
struct Slots: @unchecked Sendable {  // plain values and pointers, used under the arena's lock only
  private(set) var regions: [UnsafeMutableRawBufferPointer] = unsafe []
  private var free: [[UnsafeMutableRawPointer]] = unsafe Array(repeating: [], count: SlotSize.count)
  /// The part of the newest region that was never handed out.
  private var fresh = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)
  private var protection = ArenaStatus.Protection.memfdSecret
  private var bytesInUse = 0

  mutating func take(_ size: SlotSize) -> UnsafeMutableRawPointer {
    unsafe bytesInUse += size.byteCount
    if let slot = unsafe free[size.index].popLast() { return unsafe slot }
    if unsafe fresh.count < size.byteCount { unsafe addRegion(holding: size) }
    return unsafe takeFresh(size)
  }

  mutating func giveBack(_ slot: UnsafeMutableRawPointer, _ size: SlotSize) {
    unsafe bytesInUse -= size.byteCount
    unsafe free[size.index].append(slot)
  }

  var status: ArenaStatus {
    unsafe ArenaStatus(
      protection: protection, bytesInUse: bytesInUse,
      bytesReserved: regions.reduce(0) { $0 + $1.count })
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
      unsafe free[rest.index].append(takeFresh(rest))
    }
    let region = unsafe Pages.mapLocked(max(size.byteCount, 64 << (10 + min(2 * regions.count, 4))))
    unsafe regions.append(region.bytes)
    unsafe fresh = unsafe region.bytes
    unsafe protection = unsafe ArenaStatus.Protection.weaker(protection, region.protection)
  }
}
