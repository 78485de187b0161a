package import AuthenticatorKit
package import TextFormats
import VaultKit

extension Biokey {
  package var json: JSON {
    .object {
      Field("id", id.hexadecimal)
      if let name { Field("name", name) }
      if let pinName { Field("pin", pinName) }
      if let device { Field("device", device) }
      Field("registered", registered.seconds)
      Field("members", members == .any ? "any" : "current-set")
      Field("attemptsLeft", attemptsLeft)
      Field("invalidated", isInvalidated)
    }
  }

  /// One word for a list.
  package var shownState: String { isInvalidated ? "invalidated" : isLocked ? "locked" : "usable" }
}
