package import AuthenticatorKit
package import TextFormats
import VaultKit

extension CardToken {
  package var json: JSON {
    .object {
      Field("id", id.hexadecimal)
      Field("name", name)
      Field("state", status.rawValue)
      Field("usesLeft", usesLeft)
      Field("secondsLeft", secondsLeft)
      Field("session", belongsToSession)
      Field("asksPerson", asksPerson)
      Field("stored", stored.seconds)
      if let label { Field("label", label) }
      if let user { Field("user", user) }
      if let card { Field("card", card) }
    }
  }

  /// The cells of a list.
  package var row: [String] {
    [name, status == .valid ? "\(secondsLeft) s, \(usesLeft)×" : status.rawValue, label ?? card ?? ""]
  }
}

extension CardConsent {
  package var json: JSON {
    .object {
      Field("id", id.hexadecimal)
      Field("name", name)
      Field("role", role.rawValue)
      Field("state", status.rawValue)
      Field("secondsLeft", secondsLeft)
      Field("attemptsLeft", attemptsLeft)
      Field("resendsLeft", resendsLeft)
      if let challenge { Field("challenge", challenge) }
      Field("user", user)
      Field("card", card)
      if let channel { Field("channel", channel) }
      Field("session", belongsToSession)
      Field("requestedAgain", isRenewed)
      Field("requested", requested.seconds)
    }
  }

  /// The cells of a list.
  package var row: [String] {
    [
      name, status == .requested ? words(status.rawValue, secondsLeft: secondsLeft) : status.rawValue,
      role.rawValue, user, card,
    ]
  }
}
