import Glibc
import SecretMemory
import TestSupport
import Testing

@Suite("Secrets and fork", .bounded, .serialized)
struct ForkTests {
  @Test("a child cannot read its parent's secrets where they lay")
  func notInherited() async {
    await #expect(processExitsWith: .success) {
      for count in [32, 65_536, 100_000] { try Self.notInherited(count) }
    }
  }

  private static func notInherited(_ count: Int) throws {
    let bytes = [UInt8](repeating: 0xa5, count: count)
    let secret = SecretBytes(copying: bytes)
    let address = unsafe UInt(bitPattern: secret.address)
    var ends: [Int32] = [0, 0]
    unsafe pipe(&ends)
    let writing = ends[1]
    let status = ForkedChild.run {
      // EFAULT where nothing is mapped; what is wiped arrives as zeros.
      unsafe write(writing, UnsafeRawPointer(bitPattern: address), 32) == -1 ? 0 : 1
    }
    close(ends[1])
    defer { close(ends[0]) }
    var seen = [UInt8](repeating: 1, count: 32)
    let received = unsafe read(ends[0], &seen, 32)
    #expect(status == 0 || status == 1)
    #expect(received == 0 || seen == [UInt8](repeating: 0, count: 32))
    let isSame = secret.revealed == bytes
    #expect(isSame, "the parent still has it")
  }

  @Test("an inherited secret may end its life in the child")
  func endsInChild() async {
    await #expect(processExitsWith: .success) {
      for count in [32, 100_000] { try Self.endsInChild(count) }
    }
  }

  private static func endsInChild(_ count: Int) throws {
    var secret: SecretBytes? = SecretBytes(zeroes: count)
    let status = ForkedChild.run {
      secret = nil
      return 7
    }
    expect(secret?.byteCount, equals: count)
    expect(status, equals: 7)
  }

  @Test("a child makes secrets of its own")
  func ownArena() async {
    await #expect(processExitsWith: .success) { try Self.ownArena() }
  }

  private static func ownArena() throws {
    let parents = SecretBytes(copying: [1, 2, 3])
    let status = ForkedChild.run {
      let bytes: [UInt8] = [4, 5, 6]
      let isGood = (0..<100).allSatisfy { _ in SecretBytes(copying: bytes).revealed == bytes }
      return isGood ? 7 : 1
    }
    expect(status, equals: 7)
    expect(parents.revealed, equals: [1, 2, 3])
  }

  @Test("reading an inherited secret stops the child instead of returning zeros")
  func readingStops() async {
    await #expect(processExitsWith: .success) {
      for count in [32, 100_000] { try Self.readingStops(count) }
    }
  }

  private static func readingStops(_ count: Int) throws {
    let secret = SecretBytes(zeroes: count)
    let status = ForkedChild.run {
      close(STDERR_FILENO)
      return secret.revealed.count == count ? 0 : 1
    }
    #expect(status < 0, "the child went on: \(status)")
    expect(secret.byteCount, equals: count)
  }
}
