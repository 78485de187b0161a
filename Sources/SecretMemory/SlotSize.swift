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
