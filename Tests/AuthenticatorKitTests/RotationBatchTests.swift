import AuthenticatorKit
import OneTimePassword
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultCrypto
import VaultExpectations
import VaultKit
import VaultTestKit

/// A batch of a rotation is prepared before its write transaction. The transaction begins with changes of its own: it ends tokens
/// that are due, and in a copy it marks counters and ends every token. The batch must not put the rows of before back.
///
/// The attack succeeded: the code of a copied credential was shown, and nothing opened the vault any more.
@Suite("A batch of a rotation, and what its transaction changes first", .bounded, .requirement("K3"))
struct RotationBatchTests {
  /// Verified to fail when a batch looks only at the sequence of the head row.
  @Test("a token that becomes due while a batch is prepared ends, and the vault stays sound")
  func due() throws { try forEachDraw(due(at:)) }

  /// Calls the body with 1, 2 and so on, as the number of a draw of random bytes, until a rotation makes no such draw.
  private func forEachDraw(_ body: (Int) throws -> Bool) throws {
    var draw = 1
    while try body(draw) { draw += 1 }
    print("DRAWS \(draw)")
    #expect(draw > 10)
  }

  private func due(at draw: Int) throws -> Bool {
    let random = RandomWithEvent()
    let scene = try CardScene(random: random)
    _ = try scene.core.add(NewItem(.genericPassword), secret: SecretBytes(testing: "x"))
    let id = try scene.store()
    random.atDraw(draw) { scene.clock.advance(by: .seconds(101)) }
    try scene.core.rotateEpoch()
    try expect(scene.core.verify().problems, equals: [])
    if random.hasFired { expect(scene.refusal(id), equals: .expired, "draw \(draw)") }
    try expect(scene.place.openCore().verify().problems, equals: [])
    return random.hasFired
  }

  /// Verified to fail when a part that did not open is removed although it has left the file meanwhile.
  @Test("a token whose key is damaged and that ends before its batch is written stays listed")
  func damaged() throws { try forEachDraw(damaged(at:)) }

  private func damaged(at draw: Int) throws -> Bool {
    let random = RandomWithEvent()
    let scene = try CardScene(random: random)
    let id = try scene.store()
    _ = try scene.core.add(NewItem(.genericPassword), secret: SecretBytes(testing: "x"))
    let row = try #require(try scene.core.items(matching: Query(id: id)).first).row
    try scene.core.beginRotation()
    try scene.place.damageKeys(inRow: row)
    random.atDraw(draw) { scene.clock.advance(by: .seconds(101)) }
    try scene.core.rotateEpoch(dropDamaged: true)
    let log = try scene.core.auditEntries().filter { $0.item == id }.map(\.operation)
    #expect(!(log.contains(.tokenEnded) && log.contains(.itemDeleted)), "draw \(draw): \(log)")
    try expect(scene.core.verify().problems, equals: [])
    return random.hasFired
  }

  /// Verified to fail when a batch looks only at the sequence of the head row: the code of the copy is shown.
  @Test("a copy of a half-rotated vault gives no code of a counter and no token, and is sound")
  func copied() throws {
    let scene = try CardScene()
    let uri = SecretBytes(testing: "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=5")
    let credential = try scene.core.addOTP(OTPAuthURI(parsing: uri), named: "bank").item.id
    let token = try scene.store(uses: 3)
    try scene.core.beginRotation()
    let copy = try scene.place.openCopy()
    for _ in 0..<2_000 where copy.isRotating { try copy.resumeRotation() }
    expect(.outOfStep) { () throws(VaultError) in _ = try copy.nextHOTPCode(of: credential) }
    expect(scene.refusal(token, in: copy), equals: .expired)
    try expect(copy.verify().problems, equals: [])
    #expect(!copy.isRotating)
  }

  /// Verified to fail when `endEpoch` asks only for entries of the log.
  @Test("the keys of the old generation stay while a row needs them")
  func early() throws {
    let scene = try CardScene()
    let id = try scene.core.add(NewItem(.genericPassword), secret: SecretBytes(testing: "x")).id
    try scene.core.beginRotation()
    #expect(try !scene.core.endRotationTooEarlyForTesting())
    try expect(scene.core.secret(of: id).byteCount, equals: 1)
    try scene.core.rotateEpoch()
    #expect(!scene.core.isRotating)
    try expect(scene.core.secret(of: id).byteCount, equals: 1)
    try expect(scene.core.verify().problems, equals: [])
  }

  /// Verified to fail when the rows that are left are not tried again.
  @Test("a rotation goes on when the row that it left behind was the one of a token that ended")
  func leftBehind() throws {
    let scene = try CardScene()
    let id = try scene.store()
    try scene.core.write { transaction in
      for number in 0..<700 {
        let new = NewItem(.genericPassword, name: "n\(number)")
        _ = try transaction.add(new, secret: SecretBytes(testing: "x"))
      }
    }
    let row = try #require(try scene.core.items(matching: Query(id: id)).first).row
    try scene.core.beginRotation()
    try scene.place.damageKeys(inRow: row)
    let core = try scene.place.openCore()
    try core.resumeRotation()
    #expect(core.isRotating)
    scene.clock.advance(by: .seconds(101))
    for _ in 0..<2_000 where core.isRotating { try core.resumeRotation() }
    #expect(try !core.isRotating && core.items(matching: Query(id: id)).map(\.hasSecret) == [false])
    try expect(core.verify().problems, equals: [])
  }
}

/// The random bytes of the system, with something that happens before a given drawing.
private final class RandomWithEvent: RandomSource {
  private let state = Mutex<(left: Int, event: (@Sendable () -> Void)?)>((0, nil))

  var hasFired: Bool { state.withLock { $0.event == nil } }

  func atDraw(_ number: Int, _ event: @escaping @Sendable () -> Void) {
    state.withLock { $0 = (number, event) }
  }

  func fill(_ bytes: UnsafeMutableRawBufferPointer) throws(CryptoError) {
    let event = state.withLock { state -> (@Sendable () -> Void)? in
      state.left -= 1
      guard state.left == 0 else { return nil }
      defer { state.event = nil }
      return state.event
    }
    event?()
    try unsafe SystemRandom().fill(bytes)
  }
}
