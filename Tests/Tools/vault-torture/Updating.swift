import AuthenticatorKit
import SecretMemory
import VaultKit
import VaultTestKit

/// Counts in one value of a storage, when the test lets all processes go (D3).
enum Updating {
  static func run(_ rig: Rig, key: String, count: Int) {
    do throws(VaultError) {
      let core = try rig.open()
      var attributes = Attributes()
      (attributes[.service], attributes[.account]) = ("torture", ItemStorage.account(of: key))
      let place = NewItem(.genericPassword, attributes: attributes)
      say("ready")
      waitForStart()
      for _ in 0..<count {
        try core.changeValue(place) { old in
          var number = 0
          switch old {
          case .some(let old): number = Int(String(decoding: old.bytesForTesting, as: UTF8.self)) ?? 0
          case .none: break
          }
          return SecretBytes(testing: String(number + 1))
        }
      }
      say("done")
    } catch { fail("\(error)") }
  }
}
