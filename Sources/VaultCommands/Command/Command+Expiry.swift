import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

extension Command {
  /// The expiry that the options give: nil without one, `.some(nil)` for none.
  func expiry(in core: VaultCore) throws -> Instant?? {
    guard !(has(ExpiryOptions.expires) && self[ExpiryOptions.never]) else {
      throw CommandError.usage("--expires and --no-expiry contradict each other")
    }
    if self[ExpiryOptions.never] { return .some(nil) }
    guard let moment = self[ExpiryOptions.expires] else { return nil }
    return .some(try vault.expiry(at: moment, in: core))
  }

  /// Says when an item expires whose expiry was given: a date is of UTC, and a time from now is a date too.
  func noteExpiry(of item: Item) {
    guard has(ExpiryOptions.expires), let date = item.expiryDate else { return }
    messages.note("expires \(date)" + (item.expiry == .refuse ? ", and is refused then" : ""))
  }

  /// Says that the secret that is about to be given has expired.
  ///
  /// - Returns: Whether it has.
  func warnIfExpired(_ item: Item) throws -> Bool {
    guard let date = item.expiryDate, try vault.opened().expiryMoment().hasExpired(item) else { return false }
    messages.warn(item.expiredWords(date))
    return true
  }
}

extension Item {
  /// When it expires, for people.
  var expiryDate: String? { expires.map { Instants.shown(seconds: $0.seconds) } }

  /// The refusal of its secret, with the date and what ends the refusal.
  var expiredError: CommandError {
    CommandError(
      .expired,
      "\(called) expired \(expiryDate ?? "")" + (kind.isGivenWhenExpired ? ", and is refused since" : ""),
      hint: waysOut)
  }

  /// That it has expired, and what ends that.
  func expiredWords(_ date: String) -> String { "\(called) expired \(date); \(waysOut)" }

  private var called: String { "'\(printable(name ?? id.hexadecimal))'" }

  private var waysOut: String {
    let typed = name.flatMap(Hint.plainName) ?? "--id \(id.hexadecimal)"
    let removing = Hint.removeExpiry(of: name, typed: typed).toolSentence
    return kind.isGivenWhenExpired
      ? "store a new one with 'vaultctl edit \(typed) --password', or " + removing : removing
  }
}
