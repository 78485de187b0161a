import Glibc
import SecretMemory
import TestSupport
import Testing

@Suite("The arena", .bounded, .requirement("R19"))
struct ArenaTests {
  /// Expects to find `canary` somewhere in the arena, or not to find it.
  private func expectCanary(
    _ canary: [UInt8], isIn expected: Bool, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let isFound = ArenaTests.arenaContains(canary)
    #expect(isFound == expected, sourceLocation: sourceLocation)
  }

  private static func arenaContains(_ needle: [UInt8]) -> Bool {
    var found = false
    unsafe SecretArena.forEachRegion { region in
      unsafe needle.withUnsafeBytes { needle in
        if unsafe ByteSearch.first(needle, in: region) != nil { found = true }
      }
    }
    return found
  }

  @Test(
    "no byte of a secret is left in the arena when its owner ends", arguments: [16, 64, 100, 4096, 65_536])
  func wipedAtTheEnd(count: Int) {
    let canary = freshBytes(count)
    do {
      let secret = SecretBytes(copying: canary)
      expectCanary(canary, isIn: true)
      expect(secret.byteCount, equals: count)
    }
    for part in stride(from: 0, to: count, by: 16) {
      expectCanary(Array(canary[part..<min(part + 16, count)]), isIn: false)
    }
  }

  @Test("bytes written beyond what was kept are wiped too")
  func wipesTheWholeCapacity() {
    let canary = freshBytes(32)
    do {
      let secret = SecretBytes(capacity: 64) { output in
        output.append(copying: unsafe canary.span.bytes)
        output.removeAll()
      }
      expect(secret.byteCount, equals: 0)
    }
    expectCanary(canary, isIn: false)
  }

  @Test("bytes written before the filling closure threw are wiped")
  func wipedAfterThrow() {
    struct Refused: Error {}
    let canary = freshBytes(32)
    #expect(throws: Refused.self) {
      _ = try SecretBytes(capacity: 32) { (output) throws(Refused) in
        output.append(copying: unsafe canary.span.bytes)
        throw Refused()
      }
    }
    expectCanary(canary, isIn: false)
  }

  @Test("the search finds what an owner that does not wipe would leave")
  func searchFindsWhatIsLeft() {
    let canary = freshBytes(32)
    // A slot of 128 bytes that is ours but has never had the canary as its secret: leftovers look like this.
    let slot = SecretBytes(zeroes: 100)
    let beyond = unsafe slot.address + 90
    expectCanary(canary, isIn: false)
    unsafe beyond.copyMemory(from: canary, byteCount: canary.count)
    expectCanary(canary, isIn: true)
    unsafe explicit_bzero(beyond, canary.count)
    expect(slot.byteCount, equals: 100)
  }

  @Test("the arena is locked on this machine, or says why not")
  func status() {
    let held = SecretBytes(zeroes: 64)
    let status = SecretArena.status
    print("arena: \(status)")
    #expect(status.bytesInUse >= 64)
    #expect(status.bytesReserved >= 65_536)
    if case .notLocked(let errno) = status.protection { #expect(errno != 0) }
    expect(held.byteCount, equals: 64)
  }

  @Test("secrets never overlap, whatever their sizes, and the arena grows")
  func growth() {
    final class Held {
      let secret: SecretBytes; init(_ bytes: [UInt8]) { secret = SecretBytes(copying: bytes) }
    }
    let sizes = [1, 63, 64, 65, 500, 4096, 5000, 65_535, 65_536]
    let held = (0..<180).map { Held([UInt8](repeating: UInt8($0), count: sizes[$0 % sizes.count])) }
    for (number, holder) in held.enumerated() {
      let wanted = [UInt8](repeating: UInt8(number), count: sizes[number % sizes.count])
      let isSame = holder.secret.revealed == wanted
      #expect(isSame)
    }
    #expect(SecretArena.status.bytesReserved >= 40 * 65_536)
  }

  @Test("many threads make and end secrets at once without harm")
  func threads() async {
    await withTaskGroup(of: Bool.self) { group in
      for task in 0..<8 {
        group.addTask {
          (0..<2000).allSatisfy { round in
            let bytes = [UInt8](
              repeating: UInt8(truncatingIfNeeded: task * 31 + round), count: 1 + round % 200)
            return SecretBytes(copying: bytes).revealed == bytes
          }
        }
      }
      for await isGood in group { #expect(isGood) }
    }
  }

  @Test("memory before the first and behind the last slot of a region is not accessible")
  func guardPages() {
    let held = SecretBytes(zeroes: 64)
    var edges: [UInt] = []
    unsafe SecretArena.forEachRegion { region in
      edges.append(UInt(bitPattern: region.baseAddress!) - 1)
      unsafe edges.append(UInt(bitPattern: region.baseAddress! + region.count))
    }
    #expect(!edges.isEmpty)
    for edge in edges { #expect(!isReadable(edge)) }
    #expect(isReadable(unsafe UInt(bitPattern: held.address)))
  }

  /// Asks the kernel to read the byte: it answers EFAULT where we would crash.
  private func isReadable(_ address: UInt) -> Bool {
    var ends: [Int32] = [0, 0]
    unsafe pipe(&ends)
    defer { for end in ends { close(end) } }
    return unsafe write(ends[1], UnsafeRawPointer(bitPattern: address), 1) == 1
  }
}
