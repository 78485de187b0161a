import TestSupport
import Testing
import VaultExpectations
import VaultFormat

@Suite("The vault's own state", .bounded)
struct VaultStateTests {
  /// Verified to fail when the delay is read from the place of the wall clock.
  @Test("each field has its place, and bytes that are no field stay")
  func fields() throws {
    var stored = (0..<VaultState().bytes.count).map { UInt8(truncatingIfNeeded: $0) }
    stored[0] = 2
    var state = try VaultState(bytes: stored)
    expect(state.bytes, equals: stored)
    expect(state.failures, equals: 0x0405_0607)
    expect(state.failureBootMilliseconds, equals: 0x0809_0A0B_0C0D_0E0F)
    expect(state.boot, equals: Array(16..<32))
    expect(state.failureWall, equals: Instant(milliseconds: 0x2021_2223_2425_2627))
    expect(state.delayMilliseconds, equals: 0x2829_2A2B_2C2D_2E2F)
    expect(state.biometryFailures, equals: 0x3031_3233)
    expect(state.underWay, equals: 0x3435_3637)
    expect(state.forgiven, equals: 0x3839_3A3B)
    state.delayMilliseconds = 0
    var changed = stored
    changed.replaceSubrange(40..<48, with: [UInt8](repeating: 0, count: 8))
    expect(state.bytes, equals: changed)
  }

  @Test("another length or layout is damage")
  func damage() {
    var other = VaultState().bytes
    other[0] = 3
    for bytes in [[], Array(VaultState().bytes.dropLast()), other] {
      expect(.damaged) { () throws(VaultError) in _ = try VaultState(bytes: bytes) }
    }
  }
}
