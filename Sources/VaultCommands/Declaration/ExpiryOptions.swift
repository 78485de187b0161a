import CommandLineKit
import VaultKit
import VaultWords

/// The options for when an item expires.
enum ExpiryOptions {
  static let expires = Setting(
    "expires", .future, "TIME",
    "When the item expires: a date like 2027-01-31, or the time from now, like 90d.")
  static let never = Flag("no-expiry", "Remove the expiry.")
  static let rule = Setting(
    "expiry", .choice(["warn": ExpiryRule.warn, "refuse": .refuse]), "",
    "What happens when an expired password is read: a warning, or an error (7).")

  static let note =
    "--expires takes a date (its first moment, UTC), a date with a time like 2027-01-31T10:00 (UTC unless a zone follows, like "
    + "+01:00), or the time from now: 90d, 2w, 6mo, 1y, 12h30m. A message says when that is. A password that has expired is still "
    + "given, with a warning, because the old one is needed to change it; --expiry refuse refuses it (7). It is never deleted. Other "
    + "items, like credentials and keys, are always refused after their expiry."
}
