import AuthenticatorKit
import Glibc
import SecretMemory
import VaultKit
import VaultTestKit

/// Makes a code behind a PIN. Every key derivation adds one byte to a file (R5 for PINs).
enum PINs {
  /// - Parameter stops: Whether it waits in the derivation until the test kills it.
  static func run(_ rig: Rig, name: String, pin: String, tally: String, stops: Bool) {
    var rig = rig
    rig.environment.derivationObserver = Tally.observer(tally, stops: stops)
    do throws(VaultError) {
      let core = try rig.open()
      let id = try core.item(named: name).id
      let context = try given(pin)
      waitForStart()
      let result = try core.nextHOTPCode(of: id, context: context)
      guard case .counter(let counter) = result.factor else { fail("no counter") }
      say("code \(counter) \(result.code)")
    } catch {
      say("refused \(error.word)")
    }
  }

  static func given(_ pin: String) throws(VaultError) -> AuthenticationContext {
    let context = AuthenticationContext(reason: "", interaction: .notAllowed)
    context.provide(try PIN(SecretBytes(testing: pin)))
    return context
  }
}

/// Makes codes of one credential behind a PIN until the test kills it (A6).
enum PINCodes {
  static func run(_ rig: Rig, name: String, pin: String) {
    do throws(VaultError) {
      let core = try rig.open()
      let id = try core.item(named: name).id
      say("start")
      while true {
        let result = try core.nextHOTPCode(of: id, context: PINs.given(pin))
        guard case .counter(let counter) = result.factor else { fail("no counter") }
        say("\(counter) \(result.code)")
      }
    } catch {
      say("ERROR \(error.word) \(error.message)")
      exit(1)
    }
  }
}

/// Changes one PIN to another and back until the test kills it (B2). Changes of a camouflaged PIN are confirmed.
enum PINChanges {
  static func run(_ rig: Rig, name: String, from old: String, to new: String) {
    do throws(VaultError) {
      let core = try rig.open()
      let id = try core.item(named: name).id
      let isCamouflaged = try core.pinStatuses(of: id).first?.mode == .camouflaged
      var pins = (old, new)
      while true {
        let context = try PINs.given(pins.0)
        context.provide(new: try PIN(SecretBytes(testing: pins.1)))
        say("> \(pins.1)")
        try core.changePIN(id, context: context)
        if isCamouflaged {
          _ = try core.nextHOTPCode(of: core.item(named: "account 1").id, context: PINs.given(pins.1))
          try core.confirmPIN(id)
        }
        say("< \(pins.1)")
        pins = (pins.1, pins.0)
      }
    } catch {
      say("ERROR \(error.word) \(error.message)")
      exit(1)
    }
  }
}
