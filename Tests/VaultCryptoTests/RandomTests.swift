import Foundation
import Glibc
import SecretMemory
import TestSupport
import Testing
import VaultCrypto

@Suite("Random bytes", .bounded)
struct RandomTests {
  @Test(
    "draws of every length are filled to the end and differ",
    arguments: [1, 12, 16, 32, 255, 256, 257, 4096, 10_000])
  func lengths(count: Int) throws {
    let random = SystemRandom()
    var seen = Set<[UInt8]>()
    // Each draw goes into zeros: a byte that is left out would be zero each time.
    var union = [UInt8](repeating: 0, count: count)
    for _ in 0..<40 {
      var bytes = [UInt8](repeating: 0, count: count)
      try random.fill(&bytes)
      for index in 0..<count { union[index] |= bytes[index] }
      seen.insert(bytes)
    }
    try expect(random.bytes(count).count, equals: count)
    #expect(!union.contains(0))
    #expect(count < 12 || seen.count == 40)
    try expect(random.secret(count).byteCount, equals: count)
  }

  @Test("no draw of 100,000 occurs twice, on one thread or on several")
  func distinct() async throws {
    let draws = try await withThrowingTaskGroup(of: [[UInt8]].self) { group in
      for _ in 0..<4 {
        group.addTask { try (0..<25_000).map { _ in try SystemRandom().bytes(12) } }
      }
      return try await group.reduce(into: Set<[UInt8]>()) { $0.formUnion($1) }
    }
    expect(draws.count, equals: 100_000)
  }

  @Test("a child made by fork does not draw what its parent draws")
  func fork() async {
    await #expect(processExitsWith: .success) { try Self.forkedDraw() }
  }

  private static func forkedDraw() throws {
    _ = try SystemRandom().bytes(12)  // the pool of this thread is filled
    var ends: [Int32] = [0, 0]
    unsafe pipe(&ends)
    let writing = ends[1]
    let child = ForkedChild {
      let drawn = (try? SystemRandom().bytes(64)) ?? []
      _ = unsafe write(writing, drawn, drawn.count)
      return 0
    }
    close(ends[1])  // else a child that dies without an answer would be read from for ever
    defer { close(ends[0]) }
    let parents = try SystemRandom().bytes(64)
    expect(child.wait(), equals: 0)
    var childs = [UInt8](repeating: 0, count: 64)
    unsafe expect(read(ends[0], &childs, 64), equals: 64)
    #expect(childs != parents)
  }

  // Verified to fail when the pool keeps what it hands out.
  @Test("what the pool has handed out lies nowhere but where it was handed to")
  func handedOut() async {
    // In a process of its own: here other tests map and unmap what would be searched.
    await #expect(processExitsWith: .success) {
      // Long enough to be found only whole: single words of it may still lie on the stack.
      let drawn = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 16)
      try unsafe SystemRandom().fill(drawn)
      try unsafe expect(Self.occurrences(of: UnsafeRawBufferPointer(drawn)), equals: 1)
    }
  }

  /// How often the bytes lie in this process's writable memory.
  private static func occurrences(of bytes: UnsafeRawBufferPointer) throws -> Int {
    var found = 0
    for line in try String(contentsOfFile: "/proc/self/maps", encoding: .utf8).split(separator: "\n") {
      let fields = line.split(separator: " ")
      guard fields[1].hasPrefix("rw") else { continue }
      let ends = fields[0].split(separator: "-").map { UInt(String($0), radix: 16)! }
      var place = unsafe UnsafeRawPointer(bitPattern: ends[0])!
      let end = unsafe UnsafeRawPointer(bitPattern: ends[1])!
      while let hit = unsafe ByteSearch.first(
        bytes, in: UnsafeRawBufferPointer(start: place, count: end - place))
      {
        found += 1
        unsafe place = hit + 1
      }
    }
    return found
  }

  /// A program's thread-local memory is taken from the stack of each thread.
  ///
  /// Verified to fail when the pool itself is in thread-local memory.
  @Test("a thread of the program starts with the smallest stack that there is")
  func smallStacks() {
    let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
    defer { unsafe attributes.deallocate() }
    unsafe pthread_attr_init(attributes)
    unsafe expect(pthread_attr_setstacksize(attributes, 16 << 10), equals: 0)
    var thread: pthread_t = 0
    let code = unsafe pthread_create(&thread, attributes, { _ in nil }, nil)
    expect(code, equals: 0)
    if code == 0 { pthread_join(thread, nil) }
    unsafe pthread_attr_destroy(attributes)
  }

  @Test("keys are filled to the end and differ", arguments: [1, 32, 255, 256, 257, 1000])
  func keys(count: Int) throws {
    var union = [UInt8](repeating: 0, count: count)
    for _ in 0..<40 {
      let key = try SystemRandom().secret(count).revealed
      for index in 0..<count { union[index] |= key[index] }
    }
    #expect(!union.contains(0))
  }
}

extension SystemRandom {
  fileprivate func fill(_ bytes: inout [UInt8]) throws(CryptoError) {
    var span = bytes.mutableSpan
    var raw = unsafe span.mutableBytes
    unsafe try raw.withUnsafeMutableBytes { (raw) throws(CryptoError) in unsafe try fill(raw) }
  }
}
