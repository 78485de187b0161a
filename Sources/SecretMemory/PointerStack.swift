/// A stack of pointers in ordinary memory that is never freed. An array would need a type lookup by name in the
/// runtime at its first use, which takes longer than mapping the arena.
@unsafe
struct PointerStack {
  private(set) var count = 0
  private var capacity = 0
  private var elements: UnsafeMutablePointer<UnsafeMutableRawPointer>?

  mutating func push(_ pointer: UnsafeMutableRawPointer) {
    if unsafe count == capacity { unsafe grow() }
    unsafe elements![count] = unsafe pointer
    unsafe count += 1
  }

  mutating func pop() -> UnsafeMutableRawPointer? {
    guard unsafe count > 0 else { return nil }
    unsafe count -= 1
    return unsafe elements![count]
  }

  private mutating func grow() {
    let larger = unsafe UnsafeMutablePointer<UnsafeMutableRawPointer>.allocate(
      capacity: max(2 * capacity, 32))
    if let elements = unsafe elements {
      unsafe larger.moveInitialize(from: elements, count: count)
      unsafe elements.deallocate()
    }
    unsafe elements = unsafe larger
    unsafe capacity = max(2 * capacity, 32)
  }
}
