import AuthenticatorKit
import OneTimePassword
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// In a copy of the file, or an older state, a PIN asks for the passcode of the vault first: its count of attempts may be an old
/// one. The file is marked by the first write, which must not be the one that uses the PIN.
@Suite("A PIN in a copied file", .bounded)
struct MarkedPINTests {
  /// The attack succeeded: the passcode was never asked for. Verified to fail when nothing marks the file before the PIN is
  /// asked for.
  @Test("a camouflaged PIN in a locked copy asks for the passcode first", arguments: [false, true])
  func copied(changes: Bool) throws {
    let rig = try PINRig(passcode: "passcode")
    var new = NewPINItem(.camouflaged)
    new.access = AccessControl(.afterFirstUnlock)
    let pin = try rig.core.makePIN(new).id
    let id = try rig.timed(behind: pin, access: AccessControl(.afterFirstUnlock))
    try rig.expectRefusal(of: id, behind: pin, changes: changes, in: rig.place.openCopy())
  }

  @Test("a camouflaged PIN in an older state asks for the passcode first", arguments: [false, true])
  func older(changes: Bool) throws {
    let rig = try PINRig(passcode: "passcode")
    let pin = try rig.camouflaged()
    let id = try rig.timed(behind: pin)
    try rig.place.keepRows()
    for _ in 0..<3 { _ = try rig.core.timedCode(of: id, context: rig.context("8306")) }
    try rig.place.putRowsBack()
    try rig.expectRefusal(of: id, behind: pin, changes: changes, in: rig.core)
  }

  /// Verified to fail when the commit that sets the mark refuses what asks for no PIN: it was refused for ever.
  @Test("a change is confirmed or undone, as the first write", arguments: [0, 1, 2], [false, true])
  func changed(what: Int, isOlder: Bool) throws {
    let rig = try PINRig()
    let pin = try rig.camouflaged()
    let id = try rig.timed(behind: pin)
    try rig.core.changePIN(pin, context: rig.context("8306", new: "274951"))
    _ = try rig.core.timedCode(of: id, context: rig.context("274951"))
    try rig.place.keepRows()
    _ = try rig.core.timedCode(of: id, context: rig.context("274951"))
    if isOlder { try rig.place.putRowsBack() }
    let core = isOlder ? rig.core : try rig.place.openCopy()
    switch what {
    case 0: try core.confirmPIN(pin)
    case 1: try core.confirmOTP(of: id)
    default: try core.undoPINChange(pin)
    }
    let state = try core.state(of: pin)
    #expect(!state.hasPendingOffset && state.needsResync)
  }

  @Test("a biokey in an older state asks for the passcode first")
  func biokey() throws {
    let scene = try BiokeyScene()
    try scene.register()
    let text = SecretBytes(testing: "otpauth://totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ")
    let id = try scene.core.addOTP(
      OTPAuthURI(parsing: text), named: "timed", pin: scene.pin, context: BiokeyScene.given(pin: "8306")
    ).item.id
    let context = try BiokeyScene.given(phrase: "right")
    try scene.place.keepRows()
    for _ in 0..<3 { _ = try scene.core.timedCode(of: id, by: .biometric, context: context) }
    try scene.place.putRowsBack()
    for _ in 0..<2 {
      #expect(throws: VaultError.self) {
        try scene.core.timedCode(of: id, by: .biometric, context: BiokeyScene.given(phrase: "right"))
      }
    }
    #expect(try scene.core.state(of: scene.pin).needsResync)
  }
}

extension PINRig {
  fileprivate func timed(behind pin: ItemID, access: AccessControl = AccessControl()) throws -> ItemID {
    try core.addOTP(
      uri(PINRig.rawKey, kind: .totp(periodSeconds: 30)), named: "bank", access: access, pin: pin,
      context: context("8306")
    ).item.id
  }

  /// Twice: the first time must not settle the mark.
  fileprivate func expectRefusal(
    of id: ItemID, behind pin: ItemID, changes: Bool, in core: VaultCore
  ) throws {
    for _ in 0..<2 {
      #expect(throws: VaultError.self) {
        if changes {
          try core.changePIN(pin, context: context("8306", new: "274951"))
        } else {
          _ = try core.timedCode(of: id, context: context("8306"))
        }
      }
    }
    #expect(try core.state(of: pin).needsResync)
  }
}
