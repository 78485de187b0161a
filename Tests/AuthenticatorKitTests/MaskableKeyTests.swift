import AuthenticatorKit
import Foundation
import OneTimePassword
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// A thief who knows what a key looks like finds the PIN: only the right one gives such a key (docs/security/invariants.md).
@Suite("Keys that may be behind a camouflaged PIN", .bounded, .requirement("R24"))
struct MaskableKeyTests {
  private static func isRandom(_ key: [UInt8]) -> Bool {
    unsafe MaskableKey.isRandom(key.span.bytes)
  }

  /// The same keys in each run. One random key in nine million may be refused, and then those that begin at the bytes around it, so of
  /// twenty seeds of a run one would refuse keys.
  private static let seed: UInt64 = 24

  /// Verified to fail when 5 bits are enough.
  @Test("no random key of 20 bytes is refused, of a million", arguments: 0..<4)
  func random(part: UInt64) {
    let random = SeededRandom(seed: Self.seed ^ part << 56)
    // A key begins at each byte: each of them is random.
    let bytes = Patterns.bytes(250_019, random)
    let refused = (0..<250_000).count {
      !(unsafe MaskableKey.isRandom(bytes.span.bytes.extracting($0..<$0 + 20)))
    }
    expect(refused, equals: 0)
  }

  /// Of the keys with 16 bytes, one in eight has the form of a UUID.
  @Test("of random keys of other lengths few are refused", arguments: [10, 12, 16, 24, 32, 64, 128])
  func lengths(count: Int) {
    let random = SeededRandom(seed: Self.seed)
    let number = count < 64 ? 20_000 : 1000
    let refused = (0..<number).count { _ in !Self.isRandom(Patterns.bytes(count, random)) }
    #expect(refused <= (count == 16 ? number / 7 : count < 20 ? 30 : 0), "\(refused) of \(number)")
  }

  /// Verified to fail when the share of text is 0 bits.
  @Test("all forms together refuse at most two random keys in ten million", arguments: [20, 24, 32, 64, 512])
  func budget(count: Int) {
    #expect(MaskableKey.chance(byteCount: count) < 1.2e-7)
    #expect(MaskableKey.forms.reduce(0) { $0 + exp2(-$1.share) } < 1)
  }

  /// What the sum of the chances rests on. A form with a chance too small to be met here is in the budget by its formula.
  ///
  /// Verified to fail when the number of the bits that are looked at is not taken off, and when that of the kinds of runs is not.
  @Test("at most one in 2^k random keys saves k bits by a form", arguments: [12, 20, 33])
  func calibrated(count: Int) {
    let random = SeededRandom(seed: Self.seed)
    let keys = (0..<10_000).map { _ in Patterns.bytes(count, random) }
    for form in MaskableKey.forms {
      let savings = keys.map { unsafe form.saving($0.span.bytes) }
      for bits in 1...8 {
        let expected = 10_000 / exp2(Double(bits))
        let saving = savings.count { $0 >= Double(bits) }
        #expect(
          Double(saving) < expected + 6 * expected.squareRoot(),
          "\(form.name), \(count) bytes: \(saving) keys save \(bits) bits")
      }
    }
  }

  /// Verified to fail when all letters of UTF-8 count as equally likely, and when a form of ``MaskableKey/forms`` is left out: each but
  /// UTF-16 and many bytes 00 or FF, whose keys other forms find too.
  @Test("a key with a pattern is refused, at every length", arguments: Patterns.all)
  func pattern(pattern: Patterns) {
    let random = SeededRandom(seed: Self.seed)
    for count in [10, 12, 16, 20, 24, 32, 40, 64] where count >= pattern.fewest {
      for _ in 0..<100 {
        let key = Array(pattern.make(count, random).prefix(count))
        #expect(key.count == count && !Self.isRandom(key), "\(pattern.name), \(count) bytes: \(key)")
      }
    }
  }

  /// Random keys have them too often where their length says nothing.
  ///
  /// Verified to fail when the parity, and when the length is not looked at.
  @Test("forms of one length are refused there")
  func formsOfOneLength() {
    let random = SeededRandom(seed: Self.seed)
    for (count, parity) in [(16, 0), (16, 1), (24, 0), (24, 1)] {
      #expect(!Self.isRandom(Patterns.bytes(count, random, parity: parity)))
    }
    for prefix: [UInt8] in [[0x04, 20], [0, 20], [0, 160]] {
      #expect(!Self.isRandom(prefix + [0x80 | Patterns.bytes(1, random)[0]] + Patterns.bytes(19, random)))
    }
  }

  /// Verified to fail when the version is not looked at.
  @Test("a UUID of any version is refused")
  func uuid() {
    let random = SeededRandom(seed: Self.seed)
    for _ in 0..<1000 { #expect(!Self.isRandom(Patterns.binaryUUID(random))) }
  }

  /// Verified to fail when the activation does not ask.
  @Test("it is refused at each entrance, and nothing is stored")
  func entrances() throws {
    let key = Array("1234567890123456789".utf8) + [0]
    let rig = try PINRig()
    let pin = try rig.camouflaged()
    let uri = try rig.uri(key)
    expect(.policy) { () throws(VaultError) in
      _ = try rig.core.addOTP(uri, named: "bank", pin: pin, context: rig.context("8306"))
    }
    let suite = NewOCRACredential(try OCRASuite("OCRA-1:HOTP-SHA1-6:QN08"), name: "bank")
    expect(.policy) { () throws(VaultError) in
      _ = try rig.core.addOCRA(suite, key: SecretBytes(copying: key), pin: pin, context: rig.context("8306"))
    }
    #expect(try rig.core.items(matching: Query(.otp)).isEmpty)
    let scene = try ActivationScene(mode: 1)
    let guarding = try scene.rig.camouflaged()
    scene.server.change { $0.credential = ActivationServer.credential(key: key) }
    try scene.start()
    expect(.policy) { () throws(VaultError) in
      try scene.finish(pin: guarding, scene.rig.context("8306"))
    }
    try expect(scene.state(), equals: .started)
  }

  /// One PIN that is taken for the other gives it away: the code tells which it is.
  ///
  /// Verified to fail when the suite is not looked at.
  @Test("a suite with a PIN of its own is not put behind a camouflaged PIN")
  func suite() throws {
    let rig = try PINRig()
    let (camouflaged, checked) = (try rig.camouflaged(), try rig.checked())
    let new = NewOCRACredential(try OCRASuite("OCRA-1:HOTP-SHA1-6:QN08-PSHA1"), name: "bank")
    func add(behind pin: ItemID) throws(VaultError) {
      _ = try rig.core.addOCRA(
        new, key: SecretBytes(copying: PINRig.rawKey), pin: pin, context: rig.context("8306"))
    }
    expect(.policy) { () throws(VaultError) in try add(behind: camouflaged) }
    try add(behind: checked)
    let scene = try ActivationScene(mode: 1)
    let guarding = try scene.rig.camouflaged()
    scene.server.change {
      $0.credential = ActivationServer.credential("ocra", ["suite": .text("OCRA-1:HOTP-SHA1-6:QN08-PSHA1")])
    }
    try scene.start()
    expect(.policy) { () throws(VaultError) in
      try scene.finish(pin: guarding, scene.rig.context("8306"))
    }
  }
}
