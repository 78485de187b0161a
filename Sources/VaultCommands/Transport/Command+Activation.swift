import AuthenticatorKit
import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// What the verbs about activations say alike.
enum ActivationWords {
  static let transportNote =
    "The transport is stored with the credential. Another one asks for the passcode of the vault, and is stored then, also if the "
    + "server does not answer; in a vault without a passcode it is refused (9) until a new activation. The errors of the server have "
    + "the exit codes that 'docs/guides/transport.md' lists; without an answer it is 16, and only used counters and attempts are "
    + "stored."
  static let jsonNote =
    "With --json: name, id, state, and where they apply secondsLeft, pinBlocked, needsNewPIN (whether an unlock ends with a new PIN), "
    + "isBeingReplaced, pinMode, service, account, issuer, pin and deviceCredential (names of items), and transport."
}

extension Command {
  /// A code that the server judges, from `--code-fd`, `--code-file` or a person.
  func peerCode(_ what: String, to purpose: String) throws -> SharedSecret {
    let core = try vault.opened()
    return try vault.secret(.code, of: .code, for: core) { secrets throws(CommandError) in
      try secrets.secret(.code, to: purpose + ": " + what)
    }.box
  }

  /// How the credential is now.
  func activationOutcome(
    of name: String, @JSON.FieldBuilder adding more: () -> [JSON.Field] = { [] }
  ) throws -> Outcome {
    let core = try vault.opened()
    let status = try core.credentialStatus(named: name)
    let fields = try status.fields(core) + more()
    return Outcome(json: .object(fields), lines: status.lines)
  }
}

extension CredentialStatus {
  fileprivate func fields(_ core: VaultCore) throws -> [JSON.Field] {
    let names = try [pin, deviceCredential].map { id in
      try id.flatMap { try core.items(matching: Query(id: $0)).first?.name }
    }
    let object = JSON.object {
      Field("name", name)
      Field("id", id.hexadecimal)
      Field("state", state.rawValue)
      Field("secondsLeft", secondsLeft)
      Field("pinBlocked", pin == nil ? nil : isPINBlocked)
      if state == .unlockStarted { Field("needsNewPIN", unlockNeedsNewPIN) }
      if state == .disabled { Field("isBeingReplaced", isBeingReplaced) }
      Field("pinMode", factors?.rawValue)
      Field("service", service)
      Field("account", account)
      Field("issuer", issuer)
      Field("pin", names[0])
      Field("deviceCredential", names[1])
      Field("transport", transport)
    }
    guard case .object(let fields) = object else { return [] }
    return fields
  }

  fileprivate var lines: [String] {
    var rows = [["name", name], ["state", state.rawValue]]
    if let secondsLeft { rows.append(["seconds left", String(secondsLeft)]) }
    if pin != nil { rows.append([wording(ofKey: "pinBlocked"), isPINBlocked ? "yes" : "no"]) }
    if state == .unlockStarted {
      rows.append(["ends with", unlockNeedsNewPIN ? "a new PIN" : "the current PIN"])
    }
    if isBeingReplaced { rows.append(["replaced by", "an activation that is under way"]) }
    if let factors { rows.append([wording(ofKey: "pinMode"), factors.words]) }
    for (name, value) in [("service", service), ("account", account), ("issuer", issuer)] {
      if let value { rows.append([name, value]) }
    }
    if let transport { rows.append(["transport", transport]) }
    return columns(rows)
  }
}
