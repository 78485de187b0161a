import AuthenticatorKit
import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl otp show NAME`: the item and its state.
enum OTPShow: VaultVerb {
  static let words = ["otp", "show"]
  static let summary = "Show everything about a credential but its secret."
  static let arguments = [ItemOptions.name]
  static let target = Target.full
  static let examples = [
    "vaultctl otp show rfc",
    "vaultctl otp show rfc --json",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let item = try command.credential()
    let state = try command.vault.opened().state(of: item.id)
    let moment = try command.vault.opened().expiryMoment()
    var json = item.json(at: moment)
    var facts: [(String, String)] = []
    if item.countsCodes {
      json = json.adding("counter", .unsigned(state.counter))
      facts.append(("counter", String(state.counter)))
      if state.isBlocked {
        json = json.adding("exhausted", .boolean(true))
        facts.append(("exhausted", "yes, the last code of the counter was made"))
      }
    }
    json = json.adding("needsResync", .boolean(state.needsResync)).adding(
      "failures", .integer(Int64(state.failures)))
    let mustBeSet = item.countsCodes ? "yes, set the counter with 'vaultctl otp counter'" : "yes"
    facts += [
      (
        item.countsCodes ? "needs its counter" : wording(ofKey: "needsResync"),
        state.needsResync ? mustBeSet : "no"
      ), ("failures", String(state.failures)),
    ]
    let limits = OfflineLimits(item)
    let offline: [(String, UInt32?)] = [
      ("offlineCodes", limits.codes), ("offlineSeconds", limits.seconds),
      ("codesSinceSynchronization", limits.codes.map { _ in state.codesSinceSynchronization }),
    ]
    for case let (name, number?) in offline {
      json = json.adding(name, .unsigned(UInt64(number)))
      facts.append((wording(ofKey: name), String(number)))
    }
    if state.secondsOffset != 0 {
      json = json.adding("clockOffset", .integer(Int64(state.secondsOffset)))
      facts.append((wording(ofKey: "clockOffset"), "\(state.secondsOffset) s"))
    }
    return Outcome(
      json: try command.withEnforcement(json, of: item),
      lines: item.lines(at: moment, adding: facts + (try command.enforcementFacts(of: item))))
  }
}
